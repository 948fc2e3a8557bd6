// Runs a wasm32-wasip1 program in Node, as cargo's runner: `node wasi.mjs program.wasm arguments…`
// It sees the whole file system, as a native test would.
import { readFile } from 'node:fs/promises';
import { argv, cwd, env, exit } from 'node:process';
import { WASI } from 'node:wasi';

const [, , program, ...rest] = argv;
const wasi = new WASI({
  version: 'preview1',
  args: [program, ...rest],
  env: { ...env, PWD: cwd() },
  preopens: { '/': '/', '.': cwd() },
  returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(program));
try {
  exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
} catch (trap) {
  // The panic's message is on stderr already: a failed test ends all of them, because wasm can't unwind.
  console.error(String(trap));
  exit(101);
}
