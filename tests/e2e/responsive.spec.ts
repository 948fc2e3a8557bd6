// The page stays responsive while the worker client resolves and installs: the browser's own observer sees no task of over
// 50 ms on the main thread.
//
// The observer measures time as it passes, so whatever else the machine does counts, too. A task of ours that takes long does so
// every time; what others do comes and goes. So everything is done a few times, and one time without a long task is the proof.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { embedded, root, serve } from '../replay.js';

/** Neither is run beside other tests of this file. */
test.describe.configure({ mode: 'serial' });

const TIMES = 4;

const corpus = process.env.ESPALIER_CORPUS;
const jobs: { way: 'resolve' | 'install'; corpus: string; project: string }[] = [
  { way: 'resolve', corpus: embedded, project: 'vite-react-ts' },
  { way: 'install', corpus: embedded, project: 'sandbox' },
];
if (corpus) jobs.push({ way: 'resolve', corpus, project: 'docusaurus' }, { way: 'install', corpus, project: 'vite-react-ts' });

for (const { way, corpus, project } of jobs) {
  test(`${way} ${project}${corpus === embedded ? '' : ' of the corpus'}`, async ({ page }) => {
    test.setTimeout(180_000);
    const registry = await serve(corpus, '--also-serve', join(root, 'pkg/dist'));
    try {
      const read = (file: string) => readFileSync(join(corpus, 'projects', project, file), 'utf8');
      const lockfile = way === 'install' && existsSync(join(corpus, 'projects', project, 'package-lock.json')) ? read('package-lock.json') : undefined;
      await page.goto(`${registry.origin}/-/stats`);
      const input = { manifest: read('package.json'), registry: `${registry.origin}/`, ...(lockfile && { lockfile }) };
      const runs = await page.evaluate(observed, { module: `${registry.origin}/worker.js`, way, input, times: TIMES });
      for (const { seen, batches } of runs) expect([seen, batches > 1]).toEqual([true, true]);
      const fewest = Math.min(...runs.map(({ tasks }) => tasks.length));
      expect(fewest, JSON.stringify(runs.map(({ tasks }) => tasks))).toBe(0);
    } finally {
      registry.stop();
    }
  });
}

interface Run {
  /** Milliseconds of each long task. */
  tasks: number[];
  batches: number;
  /** Whether the observer sees a task that is long on purpose. */
  seen: boolean;
}

interface Job {
  module: string;
  way: 'resolve' | 'install';
  input: object;
  times: number;
}

/** Runs in the page. */
async function observed({ module, way, input, times }: Job): Promise<Run[]> {
  const { createWorkerClient } = await import(module);
  const client = createWorkerClient();
  const turn = () => new Promise((resolve) => setTimeout(resolve, 100));
  const watched = async (act: () => Promise<unknown>) => {
    const tasks: number[] = [];
    const note = (list: { getEntries(): PerformanceEntryList }) => tasks.push(...list.getEntries().map(({ duration }) => duration));
    const observer = new PerformanceObserver(note);
    await turn();
    observer.observe({ entryTypes: ['longtask'] });
    await act();
    await turn();
    observer.disconnect();
    return tasks;
  };
  const runs: Run[] = [];
  for (let time = 0; time < times; time++) {
    let batches = 0;
    const tasks = await watched(async () => {
      const run = client[way](input);
      for await (const _ of run.batches()) batches++;
      await run.result;
    });
    const onPurpose = await watched(async () => {
      const since = performance.now();
      while (performance.now() - since < 80);
    });
    runs.push({ tasks, batches, seen: onPurpose.length > 0 });
    if (tasks.length === 0) break;
  }
  client.terminate();
  return runs;
}
