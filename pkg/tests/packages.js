// A registry whose packages have tarballs: what is installed in the tests.
// @ts-check

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { startRegistry } from './registry.js';

/** @typedef {string | Buffer | { content: string | Buffer, mode: number }} Content */
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

/** @param {Buffer} bytes */
export function integrityOf(bytes) {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

/** Just enough of tar. @param {Record<string, Content>} files */
export function archive(files, folder = '') {
  const blocks = Object.entries(files).flatMap(([path, file]) => {
    const { content, mode } = typeof file === 'string' || Buffer.isBuffer(file) ? { content: file, mode: 0o644 } : file;
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(folder + path, 0);
    header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0        0', 136);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((sum, byte) => sum + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
