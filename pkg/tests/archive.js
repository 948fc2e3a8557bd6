// Makes tarballs for tests.
// @ts-check

import { createHash } from 'node:crypto';

/** @typedef {string | Buffer | { content: string | Buffer, mode: number }} Content */

/** @param {Buffer} bytes */
export function integrityOf(bytes) {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

/** Writes a minimal tar archive. @param {Record<string, Content>} files */
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
