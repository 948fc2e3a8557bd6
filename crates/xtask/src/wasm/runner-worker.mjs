// The worker of `runner.mjs`: gives the program its arguments and files, and reports lines and the
// exit code.

import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from '/shim/index.js';

globalThis.onmessage = async ({ data: args }) => {
  const [module, files] = await Promise.all([
    WebAssembly.compileStreaming(fetch('/program.wasm')),
    fetch('/files.json').then((response) => response.json()),
  ]);
  const print = (isError) => ConsoleStdout.lineBuffered((line) => postMessage({ line, isError }));
  const wasi = new WASI(args, [], [new OpenFile(new File([])), print(false), print(true), disk(files)], {
    debug: false,
  });
  postMessage({ code: await ended(wasi, module) });
};

async function ended(wasi, module) {
  try {
    return wasi.start(await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport }));
  } catch (trap) {
    // The panic's message is printed already: a failed test ends all of them, because wasm can't
    // unwind.
    postMessage({ line: String(trap), isError: true });
    return 101;
  }
}

function disk(files) {
  const root = new PreopenDirectory('/', new Map());
  const encoder = new TextEncoder();
  for (const [path, text] of Object.entries(files)) {
    const names = path.split('/').filter(Boolean);
    const file = names.pop();
    let folder = root.dir;
    for (const name of names) {
      if (!folder.contents.has(name)) folder.contents.set(name, new Directory(new Map()));
      folder = folder.contents.get(name);
    }
    folder.contents.set(file, new File(encoder.encode(text), { readonly: true }));
  }
  return root;
}
