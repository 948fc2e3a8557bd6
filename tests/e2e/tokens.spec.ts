// Tokens in a real browser, with a registry that answers preflights and one that does not.

import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { embedded, root, serve } from '../replay.js';

let pages: Awaited<ReturnType<typeof serve>>;
let other: Awaited<ReturnType<typeof serve>>;
let proxy: Server;
let proxied: string;
const seen: (string | undefined)[] = [];

test.beforeAll(async () => {
  test.setTimeout(300_000);
  pages = await serve(embedded, '--also-serve', join(root, 'pkg/dist'));
  other = await serve(embedded);
  // A registry that lets pages of any origin send it a token.
  proxy = createServer((request, response) => {
    const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization' };
    if (request.method === 'OPTIONS') return void response.writeHead(204, headers).end();
    seen.push(request.headers.authorization);
    fetch(`${other.origin}${request.url}`, { headers: { accept: request.headers.accept ?? '*/*' } }).then(
      async (answer) => {
        const type = answer.headers.get('content-type') ?? 'application/json';
        response
          .writeHead(answer.status, { ...headers, 'content-type': type })
          .end(Buffer.from(await answer.arrayBuffer()));
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  proxied = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
});

test.afterAll(() => {
  pages.stop();
  other.stop();
  proxy.close();
});

/**
 * Resolves one package in a page of another origin, and returns the error's code and message, if
 * any.
 */
async function resolved(
  page: import('@playwright/test').Page,
  registry: string,
  token: boolean,
): Promise<{ code?: string; message?: string }> {
  await page.goto(`${pages.origin}/-/stats`);
  return page.evaluate(
    async ({ origin, registry, token }) => {
      const { resolve } = await import(`${origin}/index.js`);
      const tokens = token ? { [registry]: 'secret' } : {};
      const input = { manifest: { dependencies: { clsx: '*' } }, registry, tokens, retries: 0 };
      return resolve(input).result.then(
        () => ({}),
        ({ code, message }: { code: string; message: string }) => ({ code, message }),
      );
    },
    { origin: pages.origin, registry, token },
  );
}

test('a registry without preflights answers only without a token', async ({ page }) => {
  expect(await resolved(page, other.origin, false)).toEqual({});
  const refused = await resolved(page, other.origin, true);
  expect(refused.code).toBe('EPREFLIGHT');
  expect(refused.message).toContain('Access-Control-Allow-Headers');
  expect(refused.message).not.toContain('secret');
});

test('a registry that answers preflights gets the token', async ({ page }) => {
  expect(await resolved(page, proxied, true)).toEqual({});
  expect([...new Set(seen)]).toEqual(['Bearer secret']);
});
