// The result of an installation in a comparable form: on disk, and in the memory of a tab or of
// Node.

import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join, sep } from 'node:path';

/** A lockfile and its installation. */
export interface Tree {
  lockfile: string;
  files: string[];
}

/** Every file and link of a project's `node_modules`: path, and mode and digest, or target. */
export function listed(folder: string): string[] {
  const files = readdirSync(join(folder, 'node_modules'), { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const inside = `node_modules/${name.split(sep).join('/')}`;
    const found = lstatSync(join(folder, inside));
    if (found.isSymbolicLink()) return [`${inside} -> ${readlinkSync(join(folder, inside))}`];
    if (found.isDirectory()) return [];
    const digest = createHash('sha256').update(readFileSync(join(folder, inside)));
    return [`${inside} ${(found.mode & 0o777).toString(8)} ${digest.digest('hex')}`];
  });
  return files.sort();
}

/**
 * Installs into memory with the npm package, once for each element of `runs`, which are options.
 * Playwright can send it to a page.
 */
export async function installed({
  module,
  input,
  runs,
}: {
  module: string;
  input: object;
  runs: object[];
}): Promise<Tree[]> {
  const { install } = await import(module);
  const hexadecimal = (buffer: ArrayBuffer) =>
    [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const trees: Tree[] = [];
  for (const own of runs) {
    const { files, lockfile } = await install({ ...input, ...own }).result;
    const entries = [...files.values()].map(async (entry) => {
      if (entry.type === 'link') return `${entry.path} -> ${entry.target}`;
      return `${entry.path} ${entry.mode.toString(8)} ${hexadecimal(await crypto.subtle.digest('SHA-256', entry.bytes))}`;
    });
    trees.push({ lockfile, files: (await Promise.all(entries)).sort() });
  }
  return trees;
}
