// Without any configuration: the module's address comes from Vite itself.
import { init, resolve } from 'espalier/slim';
import wasm from 'espalier/espalier.wasm?url';

const input = JSON.parse(new URLSearchParams(location.search).get('input'));

async function run() {
  await init(wasm);
  return { here: (await resolve(input).result).lockfile };
}

globalThis.outcome = run().catch((error) => ({ error: String(error) }));
