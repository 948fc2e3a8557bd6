// Serves the built playground on loopback, for `cargo xtask play`: `node web/serve.js <port>`. It
// ends when its standard input does, so that it can't outlive who started it.

import { fileURLToPath } from 'node:url';
import { preview } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));
await preview({
  root,
  logLevel: 'warn',
  preview: { host: '127.0.0.1', port: Number(process.argv[2]), strictPort: true },
});
process.stdin.on('end', () => process.exit()).resume();
