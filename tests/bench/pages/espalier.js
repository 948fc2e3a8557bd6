// Espalier, in a worker, into a map in memory.
import { input, measure } from './report.js';

await measure(
  async () => {
    const { createWorkerClient } = await import('espalier/worker');
    return createWorkerClient();
  },
  async (client) => {
    const { lockfile, files } = await client.install({ manifest: input.manifest, registry: input.registry }).result;
    // The others keep what they have installed; so that memory compares, this does, too.
    globalThis.installed = files;
    return { packages: Object.keys(JSON.parse(lockfile).packages).length - 1, files: files.size };
  },
);
