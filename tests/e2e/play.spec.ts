// `espalier play`: the real program serves the built page on a project of this machine.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@playwright/test';
import { embedded, executable, root, serve } from '../replay.js';
import { DONE, golden, manifest, openView, sentence } from './playground';

test('the page shows the project of a folder, asks its registry, and follows package.json', async ({ page }) => {
  // The program may have to be built first.
  test.setTimeout(300_000);
  execFileSync('node', [join(root, 'web/pack.js')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const folder = mkdtempSync(join(tmpdir(), 'espalier-play-'));
  const corpus = join(folder, 'registry');
  mkdirSync(join(corpus, 'packuments'), { recursive: true });
  for (const name of ['ms', 'once', 'wrappy']) {
    copyFileSync(join(embedded, `packuments/${name}.json`), join(corpus, `packuments/${name}.json`));
  }
  const advisory = { title: 'Slow on long text', severity: 'high', vulnerable_versions: '<3.0.0' };
  writeFileSync(join(corpus, 'advisories.json'), JSON.stringify({ ms: [advisory] }));
  const registry = await serve(corpus);
  writeFileSync(join(folder, 'package.json'), manifest('tiny'));
  writeFileSync(join(folder, '.npmrc'), `registry=${registry.origin}/\n`);
  const options = ['play', '--port', '0', '--page', join(root, 'web/page.pack'), '-C', folder];
  const program = spawn(executable('espalier-cli'), options, {
    env: { ...process.env, ESPALIER_CACHE_DIR: join(folder, 'cache') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(program, 'exit');
  try {
    const address = await addressIn(program.stderr);
    const hosts = new Set<string>();
    const refused: string[] = [];
    page.on('console', (message) => /Content Security Policy/.test(message.text()) && refused.push(message.text()));
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.goto(address);
    await expect(sentence(page)).toContainText(DONE);
    await expect(page.getByRole('textbox', { name: 'package.json' })).toContainText('"once"');

    await page.getByText('Share', { exact: true }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: /^package-lock.json/ }).click();
    const lockfile = readFileSync(await (await download).path(), 'utf8');
    expect(lockfile.replaceAll(`"resolved": "${registry.origin}/`, '"resolved": "/')).toBe(golden('tiny'));

    await openView(page, 'Health');
    const advisories = page.getByRole('region', { name: 'Advisories' });
    await expect(advisories).toContainText('1 advisory');
    await expect(advisories.getByRole('article', { name: 'Slow on long text' })).toContainText('ms@2.1.3');
    await advisories.getByRole('button', { name: 'Try to fix it' }).click();
    await expect(advisories.getByText('Override ms with >=3.0.0')).toBeVisible();
    await expect(advisories).toContainText('1 still vulnerable');

    const edited = JSON.parse(manifest('tiny'));
    delete edited.devDependencies;
    writeFileSync(join(folder, 'package.json'), JSON.stringify(edited, null, 2));
    await expect(page.locator('.changes summary')).toHaveText(/−1 removed,/);

    // The page follows workspaces too, and what was tried in it stays.
    const workspace = (dependencies: Record<string, string>) =>
      writeFileSync(
        join(folder, 'packages/a/package.json'),
        JSON.stringify({ name: 'a', version: '1.0.0', dependencies }),
      );
    mkdirSync(join(folder, 'packages/a'), { recursive: true });
    workspace({});
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...edited, workspaces: ['packages/*'] }));
    await expect(page.locator('.changes summary')).toHaveText(/\+1 added/);
    const tried = JSON.stringify({ name: 'tried', workspaces: ['packages/*'] });
    await page.getByRole('textbox', { name: 'package.json' }).click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(tried);
    await expect(page.locator('.changes summary')).toHaveText(/−2 removed/);
    workspace({ ms: '^2.1.0' });
    await expect(page.locator('.changes summary')).toHaveText(/\+1 added/);
    await expect(page.getByRole('textbox', { name: 'package.json' })).toHaveText(tried);
    expect(refused).toEqual([]);
    // Only the program asks the registry; the page only asks the program.
    expect([...hosts]).toEqual([new URL(address).host]);
  } finally {
    program.kill();
    // Until it has exited, it may write into its cache in that folder.
    await ended;
    registry.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [address] = /http:\/\/\S+/.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error('the program ended before it said where it is');
}
