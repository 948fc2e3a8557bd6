// A registry whose packages have tarballs, for tests of installations.
// @ts-check

import { gzipSync } from 'node:zlib';
import { archive, integrityOf } from './archive.js';
import { startRegistry } from './registry.js';

export { archive, integrityOf };

/** @typedef {import('./archive.js').Content} Content */
/** @typedef {{ manifest?: Record<string, unknown>, files?: Record<string, Content>, tarball?: Buffer, integrity?: string }} Package */

/**
 * Serves packages (by name and version) until the test file ends. `fault` as for `startRegistry`.
 * @param {Record<string, Record<string, Package>>} packages
 * @param {import('./registry.js').Fault} [fault]
 */
export async function startPackages(packages, fault = () => {}) {
  /** @type {Map<string, Buffer>} */
  const tarballs = new Map();
  /** @type {import('./registry.js').Packages} */
  const documents = {};
  for (const [name, versions] of Object.entries(packages)) {
    for (const [version, { manifest = {}, files = {}, tarball, integrity }] of Object.entries(versions)) {
      const own = { name, version, ...manifest };
      const packed = tarball ?? gzipSync(archive({ 'package.json': JSON.stringify(own), ...files }, 'package/'));
      const path = `${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
      tarballs.set(path, packed);
      (documents[name] ??= {})[version] = { ...manifest, dist: { integrity: integrity ?? integrityOf(packed) } };
    }
  }
  return startRegistry(documents, (path, response, before) => {
    if (fault(path, response, before)) return true;
    const tarball = tarballs.get(path);
    if (tarball) response.end(tarball);
    return tarball !== undefined;
  });
}
