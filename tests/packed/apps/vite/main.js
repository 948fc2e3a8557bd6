import { install, resolve } from 'espalier';
import { createWorkerClient } from 'espalier/worker';

const input = JSON.parse(new URLSearchParams(location.search).get('input'));

async function run() {
  const client = createWorkerClient();
  const runs = [
    resolve(input).result,
    client.resolve(input).result,
    install(input).result,
    client.install(input).result,
  ];
  const [here, worker, installed, installedByWorker] = await Promise.all(runs);
  client.terminate();
  return {
    here: here.lockfile,
    worker: worker.lockfile,
    installed: [...installed.files.keys()].sort(),
    installedByWorker: [...installedByWorker.files.keys()].sort(),
  };
}

globalThis.outcome = run().catch((error) => ({ error: String(error) }));
