// Espalier, in a worker, into a map in memory.
import { input, measure } from './report.js';

await measure(
  async () => {
    const { createWorkerClient } = await import('espalier/worker');
    return createWorkerClient();
  },
  async (client) => {
    const { lockfile, files } = await client.install({ manifest: input.manifest, registry: input.registry }).result;
    // The other installers keep the installed files in memory. This page does so too, so that
    // memory can be compared.
    globalThis.installed = files;
    return { packages: Object.keys(JSON.parse(lockfile).packages).length - 1, files: files.size };
  },
);
