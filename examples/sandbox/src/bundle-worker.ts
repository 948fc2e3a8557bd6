// Runs esbuild in a worker. An order contains the sources. The worker requests an installed file
// when an import leads to it.

import * as esbuild from 'esbuild-wasm/esm/browser.js';
import wasm from 'esbuild-wasm/esbuild.wasm?url';
import type { Bundle, Order, Problem, Reply } from './bundle-protocol.ts';
import { resolve, type Files } from './resolve.ts';

const ENTRY = 'main.jsx';
const EMPTY = 'empty';
const LOADERS: Record<string, esbuild.Loader> = {
  css: 'css',
  json: 'json',
  ts: 'ts',
  tsx: 'tsx',
  jsx: 'jsx',
  svg: 'dataurl',
  png: 'dataurl',
  txt: 'text',
};

/** The current order. */
let files: Files;
const context = esbuild.initialize({ wasmURL: wasm, worker: false }).then(start);
/** One bundle is made at a time, and only the newest order counts. */
let last: Promise<unknown> = context;
let newest = 0;
/** Requests for files that wait for the page. */
const reads = new Map<number, (data: Uint8Array<ArrayBuffer> | undefined) => void>();
let lastRead = 0;

globalThis.onmessage = ({ data: order }: MessageEvent<Order>) => {
  if (order.type === 'bundle') {
    newest = order.id;
    last = last.finally(() => run(order.id, order.sources));
  } else {
    reads.get(order.id)?.(order.data);
    reads.delete(order.id);
  }
};

function post(reply: Reply): void {
  globalThis.postMessage(reply);
}

async function run(id: number, sources: Record<string, string>): Promise<void> {
  if (id !== newest) return;
  files = filesOf(sources);
  post({ type: 'bundled', id, bundle: await bundle() });
}

/** The sources first, then the installed files. Each path is requested once for a bundle. */
function filesOf(sources: Record<string, string>): Files {
  const known = new Map<string, Promise<Uint8Array | undefined>>();
  for (const [path, text] of Object.entries(sources)) known.set(path, Promise.resolve(new TextEncoder().encode(text)));
  return {
    read(path) {
      if (!path.startsWith('node_modules/')) return known.get(path) ?? Promise.resolve(undefined);
      const reading = known.get(path) ?? ask(path);
      known.set(path, reading);
      return reading;
    },
  };
}

function ask(path: string): Promise<Uint8Array | undefined> {
  return new Promise((answer) => {
    const id = ++lastRead;
    reads.set(id, answer);
    post({ type: 'read', id, path });
  });
}

/**
 * esbuild keeps parsed files while their text stays the same, so after a change to the app it
 * parses only the app.
 */
function start(): Promise<esbuild.BuildContext<{ write: false; metafile: true }>> {
  return esbuild.context({
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    metafile: true,
    outdir: '/',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'silent',
    plugins: [installed],
  });
}

async function bundle(): Promise<Bundle> {
  const start = performance.now();
  try {
    const { outputFiles, metafile } = await (await context).rebuild();
    const text = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
    const inputs = Object.keys(metafile.inputs).length;
    return { script: text('.js'), style: text('.css'), inputs, elapsed: performance.now() - start };
  } catch (error) {
    return { problems: problemsIn(error) };
  }
}

/** The plugin that finds and loads files, because esbuild has no file system in a worker. */
const installed: esbuild.Plugin = {
  name: 'installed',
  setup(build) {
    build.onResolve({ filter: /.*/ }, async ({ path, importer, kind }) => {
      if (kind === 'entry-point') return { path, namespace: 'installed' };
      if (/^(https?|data):/.test(path)) return { path, external: true };
      const target = await resolve(files, path, importer);
      if (!target) return { errors: [{ text: missing(path) }] };
      return 'empty' in target ? { path, namespace: EMPTY } : { path: target.path, namespace: 'installed' };
    });
    build.onLoad({ filter: /.*/, namespace: EMPTY }, () => ({ contents: 'module.exports = {}' }));
    build.onLoad({ filter: /.*/, namespace: 'installed' }, async ({ path }) => {
      const contents = await files.read(path);
      const loader = LOADERS[path.slice(path.lastIndexOf('.') + 1)] ?? 'js';
      return contents ? { contents, loader } : { errors: [{ text: `There is no file ${path}.` }] };
    });
  },
};

function missing(spec: string): string {
  const [, name] = /^((?:@[^/]+\/)?[^./][^/]*)/.exec(spec) ?? [];
  return name ? `${spec} leads nowhere. Is ${name} among the dependencies?` : `There is no file ${spec}.`;
}

function problemsIn(error: unknown): Problem[] {
  const { errors } = error as Partial<esbuild.BuildFailure>;
  if (!errors) return [{ text: String(error) }];
  return errors.map(({ text, location }) => ({
    text,
    ...(location && {
      file: location.file.replace(/^installed:/, ''),
      line: location.line,
      column: location.column + 1,
    }),
  }));
}
