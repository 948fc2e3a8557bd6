// Starts Verdaccio for a test, with packages that npm publishes into it.
// @ts-check

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runNpm } from './npm.js';

const own = fileURLToPath(new URL('.', import.meta.url));

/** @typedef {{ origin: string, token: string, stop: () => Promise<void> }} Verdaccio */

/** Private packages with public dependencies. */
const PACKAGES = [
  { name: '@acme/base', version: '1.0.0', license: 'MIT', dependencies: { clsx: '^2.0.0' } },
  { name: '@acme/base', version: '1.2.0', license: 'Apache-2.0', dependencies: { clsx: '^2.1.0' } },
  { name: '@acme/base', version: '2.0.0', license: 'MIT', engines: { node: '>=18' } },
  {
    name: '@acme/ui',
    version: '3.1.0',
    license: 'UNLICENSED',
    bin: { 'acme-ui': 'index.js' },
    dependencies: { '@acme/base': '^1.0.0' },
    peerDependencies: { react: '^19.0.0' },
    optionalDependencies: { nanoid: '*' },
  },
  { name: 'acme-tool', version: '0.1.0', dependencies: { '@acme/base': '*' }, scripts: { postinstall: 'exit 1' } },
];

/**
 * Starts one in a folder of its own, in front of another registry, and publishes into it with npm.
 * @param {string} folder
 * @param {string} upstream
 * @param {string} npm The folder of npm's package.
 * @returns {Promise<Verdaccio>}
 */
export async function startVerdaccio(folder, upstream, npm) {
  install();
  mkdirSync(folder, { recursive: true });
  const server = spawn(process.execPath, [join(own, 'serve.js'), folder, upstream], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  const ended = once(server, 'exit');
  const stop = async () => {
    server.stdin.end();
    await ended;
  };
  const origin = await firstLine(server.stdout);
  try {
    const token = await login(origin);
    for (const manifest of PACKAGES) publish(join(folder, 'publish'), origin, token, npm, manifest);
    return { origin, token, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Installs Verdaccio, unless it is installed. */
function install() {
  const installed = join(own, 'node_modules/.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(own, 'package-lock.json')).mtimeMs) return;
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', options, { cwd: own, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** @param {import('node:stream').Readable} output */
async function firstLine(output) {
  for await (const line of createInterface({ input: output })) return line;
  throw new Error('Verdaccio ended before it said where it is');
}

/** @param {string} origin @returns {Promise<string>} */
async function login(origin) {
  const answer = await fetch(`${origin}/-/user/org.couchdb.user:tester`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'tester', password: 'a password of the test' }),
  });
  const { token } = await answer.json();
  if (typeof token !== 'string') throw new Error(`Verdaccio gave no token (${answer.status})`);
  return token;
}

/**
 * @param {string} folder @param {string} origin @param {string} token @param {string} npm
 * @param {{ name: string, version: string }} manifest
 */
function publish(folder, origin, token, npm, manifest) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
  writeFileSync(join(folder, 'index.js'), `#!/usr/bin/env node\nconsole.log('${manifest.name}');\n`);
  const credential = `--${origin.replace('http:', '')}/:_authToken=${token}`;
  const tag = manifest.version === '2.0.0' ? 'next' : 'latest';
  runNpm(npm, folder, ['publish', '--ignore-scripts', `--registry=${origin}/`, `--tag=${tag}`, credential]);
}
