import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { membersOf } from '../src/model/archive';

test('members that are wanted are read, packed or stored', async () => {
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

test('what is no zip is refused', () => {
  expect(() => membersOf(new TextEncoder().encode('{"name":"app"}'), () => true)).toThrow('this is not a zip');
});

test('a member that says less than it holds is not inflated without end', async () => {
  const [bomb] = membersOf(zip({ 'package.json': 'x'.repeat(70 << 20) }, [8], 10), () => true);
  await expect(bomb!.text()).rejects.toThrow('larger than any package.json');
});

/** A zip as its specification has it; `size` is a lie about how large the members are. */
function zip(files: Record<string, string>, methods: number[], size?: number): Uint8Array<ArrayBuffer> {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  Object.entries(files).forEach(([path, text], index) => {
    const method = methods[index]!;
    const content = Buffer.from(text);
    const packed = method === 8 ? deflateRawSync(content) : content;
    const name = Buffer.from(path);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(size ?? content.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    directory.push(entry, name);
    pieces.push(local, name, packed);
    at += local.length + name.length + packed.length;
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(at, 16);
  return new Uint8Array(Buffer.concat([...pieces, ...directory, end]));
}
