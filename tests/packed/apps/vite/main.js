import { resolve } from 'espalier';
import { createWorkerClient } from 'espalier/worker';

const input = JSON.parse(new URLSearchParams(location.search).get('input'));

async function run() {
  const client = createWorkerClient();
  const [here, worker] = await Promise.all([resolve(input).result, client.resolve(input).result]);
  client.terminate();
  return { here: here.lockfile, worker: worker.lockfile };
}

globalThis.outcome = run().catch((error) => ({ error: String(error) }));
