// A registry on loopback, with a few packages and the faults that a test requests.
// @ts-check

import { createServer } from 'node:http';
import { after } from 'node:test';

/** @typedef {Record<string, Record<string, object>>} Packages Name, version, manifest. */
/** @typedef {{ path: string, headers: import('node:http').IncomingHttpHeaders, aborted: boolean }} Seen */
/** @typedef {(path: string, response: import('node:http').ServerResponse, seen: number) => boolean | void} Fault */

export const ABBREVIATED = 'application/vnd.npm.install-v1+json';

/**
 * Serves `packages` until the test file ends. `fault` may answer a request itself, and then says
 * `true`; it is told how often the path was asked for before.
 * @param {Packages} packages
 * @param {Fault} [fault]
 */
export async function startRegistry(packages, fault = () => {}) {
  /** @type {Seen[]} */
  const requests = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    const before = requests.filter((seen) => seen.path === path).length;
    const seen = { path, headers: request.headers, aborted: false };
    requests.push(seen);
    response.on('close', () => (seen.aborted = !response.writableFinished));
    if (fault(path, response, before)) return;
    const body = document(path, packages, origin());
    response.writeHead(body ? 200 : 404, { 'content-type': body && 'type' in body ? body.type : 'application/json' });
    response.end(body ? body.text : '{"error":"not found"}');
  });
  const origin = () => `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  after(close);
  return { url: origin(), requests, paths: () => requests.map(({ path }) => path), close };
}

/** @param {string} path @param {Packages} packages @param {string} origin */
function document(path, packages, origin) {
  const [, name = '', version] = /^((?:@[^/]+\/)?[^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const versions = packages[name];
  if (!versions) return undefined;
  if (version) return versions[version] && { text: JSON.stringify(manifest(name, version, versions[version], origin)) };
  const manifests = Object.entries(versions).map(([version, own]) => {
    const { license: _license, ...rest } = manifest(name, version, own, origin);
    return [version, rest];
  });
  const latest = Object.keys(versions).at(-1);
  const text = JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(manifests) });
  return { type: ABBREVIATED, text };
}

/** @param {string} name @param {string} version @param {{ dist?: object }} own @param {string} origin */
function manifest(name, version, own, origin) {
  const tarball = `${origin}/${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
  const integrity = `sha512-${Buffer.from(`${name}@${version}`.padEnd(64)).toString('base64')}`;
  return { name, version, license: 'MIT', ...own, dist: { tarball, integrity, ...own.dist } };
}
