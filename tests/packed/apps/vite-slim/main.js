// Without any configuration: the module's address comes from Vite itself.
import { init, install } from 'espalier/slim';
import wasm from 'espalier/espalier.wasm?url';

const input = JSON.parse(new URLSearchParams(location.search).get('input'));

async function run() {
  await init(wasm);
  const { lockfile, files } = await install(input).result;
  return { here: lockfile, installed: [...files.keys()].sort() };
}

globalThis.outcome = run().catch((error) => ({ error: String(error) }));
