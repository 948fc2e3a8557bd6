// End-to-end tests of the playground, as it is shipped: built, and served as static files on
// loopback. `PLAYGROUND_URL` names one that already runs instead.

import { createServer } from 'node:net';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { defineConfig, devices } from '@playwright/test';

// Workers read this file again, and must find the port that was chosen first.
const port = (process.env.PLAYGROUND_PORT ??= String(await freePort()));
const given = process.env.PLAYGROUND_URL;
const url = given ?? `http://127.0.0.1:${port}/`;
const executablePath = chromium();

export default defineConfig({
  testDir: 'tests/e2e',
  // A resolution takes a second on a machine of its own, and many on one that is shared.
  timeout: 90_000,
  expect: { timeout: 30_000 },
  forbidOnly: Boolean(process.env.CI),
  // One more than cores here have: tests of faults mostly wait.
  workers: 3,
  reporter: 'list',
  use: {
    ...devices['Desktop Chrome'],
    baseURL: url,
    viewport: { width: 1440, height: 900 },
    // A trace takes a picture of the page at every step, which makes the suite much longer.
    // `PLAYGROUND_TRACE=1` asks for it.
    trace: process.env.PLAYGROUND_TRACE ? 'retain-on-failure' : 'off',
    launchOptions: {
      ...(executablePath ? { executablePath } : {}),
      // Chromium's sandbox doesn't start for root, which is who runs tests in a container.
      args: ['--disable-gpu', '--disable-background-networking', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    },
  },
  ...(given
    ? {}
    : {
        webServer: {
          command: `npm run --workspace web build && npm run --workspace web preview -- --host 127.0.0.1 --port ${port} --strictPort`,
          url,
          timeout: 300_000,
        },
      }),
});

/** The one that is named, or the system's; without either, Playwright's own. */
function chromium(): string | undefined {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const named = (name: string) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  // Without a window, it takes two thirds of the processor time.
  return named('chromium-headless-shell') ?? named('chromium');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
