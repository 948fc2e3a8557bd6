// Resolves every project of a corpus in Node, against a registry that serves its recording, and compares the
// locks with npm's: `node corpus.mjs <corpus> <registry> [project…]`
// @ts-check

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { argv, exit, stdout } from 'node:process';
import { resolve } from 'espalier';

const [corpus = '.', registry = '', ...only] = argv.slice(2);
const projects = join(corpus, 'projects');
let differing = 0;

for (const name of only.length > 0 ? only : readdirSync(projects).sort()) {
  const folder = join(projects, name);
  const outcome = await resolved(name, folder);
  const expected = join(folder, 'package-lock.json');
  const wanted = existsSync(expected) ? readFileSync(expected, 'utf8') : 'ERESOLVE';
  const identical = outcome.lockfile === wanted;
  differing += Number(!identical);
  stdout.write(`${name.padEnd(20)} ${identical ? 'identical' : 'DIFFERS'} ${outcome.summary}\n`);
}
exit(Math.min(differing, 1));

/** @param {string} name @param {string} folder */
async function resolved(name, folder) {
  const flags = existsSync(join(folder, 'npm-args')) ? readFileSync(join(folder, 'npm-args'), 'utf8') : '';
  try {
    const { lockfile, statistics } = await resolve({
      files: manifests(folder),
      folderName: name,
      registry,
      legacyPeerDeps: flags.includes('--legacy-peer-deps'),
      force: flags.includes('--force'),
    }).result;
    const { packages, requests, bytes, elapsed } = statistics;
    const summary = `${packages} packages, ${requests} requests, ${bytes} bytes, ${Math.round(elapsed)} ms`;
    // The corpus holds npm's locks without the registry's origin.
    return { lockfile: lockfile.replaceAll(`"resolved": "${new URL(registry).origin}/`, '"resolved": "/'), summary };
  } catch (error) {
    const { code, message } = /** @type {import('espalier').EspalierError} */ (error);
    return { lockfile: code, summary: `${code}: ${message}` };
  }
}

/** All package.json files of a project, by path. @param {string} folder */
function manifests(folder) {
  const paths = /** @type {string[]} */ (readdirSync(folder, { recursive: true }));
  const found = paths.filter((path) => /(^|[\\/])package\.json$/.test(path));
  return Object.fromEntries(
    found.map((path) => [relative('.', path).replaceAll('\\', '/'), readFileSync(join(folder, path), 'utf8')]),
  );
}
