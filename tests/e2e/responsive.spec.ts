// The page stays responsive while the worker client resolves and installs: the main thread does no
// heavy work.
//
// The length of a task depends on the machine and its load, so no test looks at a clock. These
// tests count heavy calls; `tests/bench/browser.js` measures the longest task.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { embedded, root, serve } from '../replay.js';
import { heavyCalls, watchHeavyCalls } from './idle-thread';

const corpus = process.env.ESPALIER_CORPUS;
const jobs: { way: 'resolve' | 'install'; corpus: string; project: string }[] = [
  { way: 'resolve', corpus: embedded, project: 'vite-react-ts' },
  { way: 'install', corpus: embedded, project: 'sandbox' },
];
if (corpus) jobs.push({ way: 'install', corpus, project: 'vite-react-ts' });

for (const { way, corpus, project } of jobs) {
  test(`${way} of ${project}${corpus === embedded ? '' : ' of the corpus'} leaves heavy work to the worker`, async ({
    page,
  }) => {
    const registry = await serve(corpus, '--also-serve', join(root, 'pkg/dist'));
    try {
      const file = (name: string) => join(corpus, 'projects', project, name);
      const lockfile = file('package-lock.json');
      const input = {
        manifest: readFileSync(file('package.json'), 'utf8'),
        registry: `${registry.origin}/`,
        ...(way === 'install' && existsSync(lockfile) && { lockfile: readFileSync(lockfile, 'utf8') }),
      };
      await watchHeavyCalls(page);
      await page.goto(`${registry.origin}/-/stats`);
      const { events, packages } = await page.evaluate(run, { module: `${registry.origin}/worker.js`, way, input });
      expect(events).toBeGreaterThan(0);
      expect(packages).toBeGreaterThan(1);
      expect(await heavyCalls(page)).toEqual([]);
    } finally {
      registry.stop();
    }
  });
}

test('heavy calls are counted', async ({ page }) => {
  const registry = await serve(embedded, '--also-serve', join(root, 'pkg/dist'));
  try {
    await watchHeavyCalls(page);
    await page.goto(`${registry.origin}/-/stats`);
    await page.evaluate(async (module) => {
      const { resolve } = await import(module);
      // Without a worker, wasm runs in this thread. The result does not matter.
      await resolve({ manifest: '{}' }).result;
    }, `${registry.origin}/index.js`);
    expect(await heavyCalls(page)).toContain('compileStreaming');
  } finally {
    registry.stop();
  }
});

interface Job {
  module: string;
  way: 'resolve' | 'install';
  input: object;
}

/** Runs in the page. */
async function run({ module, way, input }: Job): Promise<{ events: number; packages: number }> {
  const { createWorkerClient } = await import(module);
  const client = createWorkerClient();
  const started = client[way](input);
  let events = 0;
  for await (const batch of started.batches()) events += batch.length;
  const { graph } = await started.result;
  client.terminate();
  return { events, packages: graph.nodes.length };
}
