import { expect, test } from 'vitest';
import { membersOf } from '../src/model/archive';
import { zip } from './zip';

test('wanted members are read, whether deflated or stored', async () => {
  const bytes = zip(
    { 'app/package.json': '{"name":"app"}', 'app/src/index.js': 'x', 'app/package-lock.json': '{}' },
    [8, 0, 0],
  );
  const members = membersOf(bytes, (path) => path.endsWith('.json'));
  const texts = await Promise.all(members.map(async (member) => [member.path, await member.text()]));
  expect(texts).toEqual([
    ['app/package.json', '{"name":"app"}'],
    ['app/package-lock.json', '{}'],
  ]);
});

test('a file that is no zip is refused', () => {
  expect(() => membersOf(new TextEncoder().encode('{"name":"app"}'), () => true)).toThrow('this is not a zip');
});

test('a member larger than its stated size stops being inflated', async () => {
  const [bomb] = membersOf(zip({ 'package.json': 'x'.repeat(70 << 20) }, [8], 10), () => true);
  await expect(bomb!.text()).rejects.toThrow('larger than any package.json');
});
