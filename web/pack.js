// Packs the built page into one file for `espalier play`
// (crates/espalier-cli/src/command/play/page.rs): a line of JSON with path, type and length of each
// file, then the files, compressed by gzip: Safari takes no brotli over plain HTTP. The embedded
// registry stays out: there, the registry is the user's.
// @ts-check

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, gzipSync } from 'node:zlib';

/** @type {Record<string, string>} */
const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

const dist = fileURLToPath(new URL('dist/', import.meta.url));
const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((path) => !relative(dist, path).startsWith('registry'))
  .sort()
  .map((path) => {
    const body = gzipSync(readFileSync(path), { level: constants.Z_BEST_COMPRESSION });
    return { path: relative(dist, path).split(sep).join('/'), type: TYPES[extname(path)], body };
  });
const list = JSON.stringify(files.map(({ path, type, body }) => [path, type, body.length]));
const pack = Buffer.concat([Buffer.from(`${list}\n`), ...files.map(({ body }) => body)]);
writeFileSync(new URL('page.pack', import.meta.url), pack);
console.error(`web/page.pack: ${files.length} files, ${pack.length} bytes`);
