// Prints how large a file is: as it is, as gzip, as brotli.
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const content = readFileSync(process.argv[2]);
const brotli = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
console.log(content.length, gzipSync(content, { level: 9 }).length, brotli.length);
