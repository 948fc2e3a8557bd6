// Verdaccio on loopback: a proxy of another registry, with private packages that require a token.
// It runs in a process of its own, prints its address on the first line of standard output, and
// ends when its standard input does.
//
//   node serve.js FOLDER UPSTREAM

import { join } from 'node:path';
import { runServer } from 'verdaccio';

const [folder = '.', upstream = ''] = process.argv.slice(2);

const server = await runServer({
  configPath: join(folder, 'config.yaml'),
  storage: join(folder, 'storage'),
  auth: { htpasswd: { file: join(folder, 'htpasswd'), algorithm: 'bcrypt', rounds: 4 } },
  uplinks: { upstream: { url: upstream } },
  packages: {
    '@acme/*': { access: '$authenticated', publish: '$authenticated' },
    'acme-*': { access: '$authenticated', publish: '$authenticated' },
    '**': { access: '$all', proxy: 'upstream' },
  },
  web: { enable: false },
  log: { type: 'stderr', level: 'fatal' },
});
process.stdin.on('end', () => process.exit()).resume();
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
