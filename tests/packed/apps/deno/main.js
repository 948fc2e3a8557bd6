import { install } from 'espalier';
import { createWorkerClient } from 'espalier/worker';

const input = JSON.parse(Deno.args[0]);
const paths = ({ files }) => [...files.keys()].sort();

const here = await install(input).result;
const client = createWorkerClient();
const worker = await client.install(input).result;
client.terminate();
console.log(
  JSON.stringify({
    here: here.lockfile,
    worker: worker.lockfile,
    installed: paths(here),
    installedByWorker: paths(worker),
  }),
);
