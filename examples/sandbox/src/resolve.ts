// Resolves imports in a tree of installed files, as Node and bundlers do, with the conditions of a
// browser. It does not know how the files got there, or what they are used for.

import { exports, imports, legacy } from 'resolve.exports';

/** Files by path from the project's folder: `main.jsx`, `node_modules/react/index.js`. */
export interface Files {
  read(path: string): Promise<Uint8Array | undefined>;
}

/** A file, or an empty module, which a package can put in place of one for browsers. */
export type Target = { path: string } | { empty: true };

interface Manifest {
  name: string;
  exports?: unknown;
  browser?: string | Record<string, string | false>;
}

const CONDITIONS = { browser: true, conditions: ['development', 'module'] };
const ENDINGS = ['', '.js', '.jsx', '.ts', '.tsx', '.mjs', '.cjs', '.json', '.css'];

/** Resolves `spec` in the file `importer`. `undefined` if there is no such file. */
export async function resolve(files: Files, spec: string, importer: string): Promise<Target | undefined> {
  const from = folderOf(importer);
  const inside = await packageOf(files, from);
  let replaced: string | false | undefined;
  if (inside) replaced = mapped(inside.manifest, isRelative(spec) ? relativeTo(inside.folder, join(from, spec)) : spec);
  if (replaced === false) return { empty: true };
  const [wanted, base] = replaced === undefined ? [spec, from] : [replaced, inside!.folder];
  const found = isRelative(wanted) ? await find(files, join(base, wanted)) : await bare(files, wanted, base, inside);
  if (found === undefined) return undefined;
  // A package may name replacements for browsers, also for its own files.
  const owner = await packageOf(files, folderOf(found));
  const instead = owner && mapped(owner.manifest, relativeTo(owner.folder, found));
  if (instead === false) return { empty: true };
  const path = instead === undefined ? found : await find(files, join(owner!.folder, instead));
  return path === undefined ? undefined : { path };
}

interface Package {
  folder: string;
  manifest: Manifest;
}

async function bare(
  files: Files,
  spec: string,
  from: string,
  inside: Package | undefined,
): Promise<string | undefined> {
  if (spec.startsWith('#')) {
    const [target] = (inside && imports(inside.manifest, spec, CONDITIONS)) || [];
    return target && find(files, join(inside!.folder, target));
  }
  const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.*))?$/.exec(spec) ?? [];
  for (const folder of upwards(from)) {
    const home = join(folder, `node_modules/${name}`);
    const manifest = await manifestIn(files, home);
    if (!manifest) continue;
    const entry = rest === undefined ? '.' : `./${rest}`;
    if (manifest.exports !== undefined) {
      const [target] = allowed(manifest, entry);
      return target && find(files, join(home, target));
    }
    if (rest !== undefined) return find(files, join(home, rest));
    const main = legacy(manifest, { browser: false, fields: ['module', 'main'] });
    const own = typeof manifest.browser === 'string' ? manifest.browser : main;
    return (await find(files, join(home, typeof own === 'string' ? own : 'index.js'))) ?? find(files, home);
  }
  return undefined;
}

/** The target in a package's `exports`, if they contain the path. */
function allowed(manifest: Manifest, entry: string): string[] {
  try {
    return exports(manifest, entry, CONDITIONS) || [];
  } catch {
    return [];
  }
}

/** The file itself, the file with an extension, or the index of the folder. */
async function find(files: Files, path: string): Promise<string | undefined> {
  for (const candidate of [
    ...ENDINGS.map((ending) => path + ending),
    ...ENDINGS.slice(1).map((ending) => `${path}/index${ending}`),
  ]) {
    if (await files.read(candidate)) return candidate;
  }
  return undefined;
}

async function packageOf(files: Files, folder: string): Promise<Package | undefined> {
  for (const candidate of upwards(folder)) {
    const manifest = await manifestIn(files, candidate);
    if (manifest) return { folder: candidate, manifest };
  }
  return undefined;
}

async function manifestIn(files: Files, folder: string): Promise<Manifest | undefined> {
  const file = await files.read(join(folder, 'package.json'));
  return file && JSON.parse(new TextDecoder().decode(file));
}

/** The entry of `browser` for a spec or a file: a replacement, `false`, or none. */
function mapped({ browser }: Manifest, key: string): string | false | undefined {
  if (typeof browser !== 'object') return undefined;
  return browser[key] ?? browser[`${key}.js`];
}

const isRelative = (spec: string) => /^\.{0,2}\//.test(spec) || spec === '.' || spec === '..';
const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
const relativeTo = (folder: string, path: string) => `./${folder === '' ? path : path.slice(folder.length + 1)}`;

function* upwards(folder: string): Generator<string> {
  for (let at = folder; at !== ''; at = folderOf(at)) if (!at.endsWith('node_modules')) yield at;
  yield '';
}

function join(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of path.startsWith('/') ? path.split('/') : [...folder.split('/'), ...path.split('/')]) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}
