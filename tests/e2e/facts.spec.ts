// The card asks the registry for a package's manifest when the package is selected.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { card, dependOn, row } from './playground';

const MANIFESTS: Record<string, object> = {
  plain: {
    description: 'Does one thing',
    homepage: 'https://plain.test/',
    repository: { type: 'git', url: 'git+https://code.test/plain.git' },
    exports: { '.': { types: './index.d.ts', import: './index.js', require: './index.cjs' } },
  },
  hostile: { description: '<img src=x onerror=alert(1)>', homepage: 'javascript:alert(1)', repository: 'data:,x' },
};

/** A registry that allows requests from pages of any origin. */
function registry(): Server {
  return createServer(({ url = '/' }, response) => {
    const [name = '', version] = decodeURIComponent(url).slice(1).split('/');
    const manifest = MANIFESTS[name] && { name, version: '1.0.0', license: 'MIT', ...MANIFESTS[name] };
    const packument = { name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': withDist(manifest, url) } };
    response
      .writeHead(manifest ? 200 : 404, { 'access-control-allow-origin': '*', 'content-type': 'application/json' })
      .end(JSON.stringify(version ? manifest : packument));
  });
}

function withDist(manifest: object | undefined, url: string): object {
  return { ...manifest, dist: { tarball: `http://registry.test${url}.tgz`, integrity: `sha512-${'A'.repeat(86)}==` } };
}

let server: Server;
test.beforeAll(async () => {
  server = registry();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
test.afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('a card shows the description, links and module formats of its package', async ({ page }) => {
  const { port } = server.address() as AddressInfo;
  await page.goto(`./#registry=http://127.0.0.1:${port}/&view=tree`);
  await dependOn(page, { plain: '^1.0.0', hostile: '^1.0.0' });

  await row(page, 'plain').locator('.name').click();
  const facts = card(page).locator('.facts');
  await expect(facts).toContainText('Does one thing');
  await expect(facts.getByRole('link', { name: 'Homepage' })).toHaveAttribute('href', 'https://plain.test/');
  await expect(facts.getByRole('link', { name: 'Repository' })).toHaveAttribute('href', 'https://code.test/plain');
  await expect(facts).toContainText('ESM and CommonJS');
  await expect(facts).toContainText('includes types');

  // A manifest is untrusted.
  await row(page, 'hostile').locator('.name').click();
  await expect(facts).toContainText('<img src=x onerror=alert(1)>');
  await expect(facts.getByRole('link')).toHaveCount(0);
});
