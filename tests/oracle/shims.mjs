// Records the scripts that npm writes for commands on Windows: node tests/oracle/shims.mjs NPM >
// crates/espalier-install/src/reify/shims.json
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

// npm's bin-links uses this cmd-shim.
const npm = createRequire(resolve(process.argv[2], 'package.json'));
const cmdShim = createRequire(npm.resolve('bin-links'))('cmd-shim');

const contents = [
  '#!/usr/bin/env node\nx',
  '#!/usr/bin/env -S node --expose_gc --x\r\nx',
  '#!/usr/bin/env NODE_PATH=./lib:$HOME/x A=${B}c node --flag\n',
  '#!/bin/sh\necho',
  '#!/usr/bin/node -a -b\n',
  'no shebang',
  '',
  '#! /usr/bin/env deno run\nq',
  '#!/usr/bin/env\tnode\n',
  '\n#!/usr/bin/env node\n',
  '#!/usr/bin/env node   --a   b  \n',
  '#!C:\\tools\\node.exe -x\n',
  '#!/usr/bin/env -S A=1 B=2 node\n',
  '#!\n',
];
const targets = ['../pkg/bin/cli.js', '../@scope/pkg/a b.js', '../../../packages/tool/cli'];

const root = mkdtempSync(join(tmpdir(), 'shims-'));
const cases = [];
for (const target of targets) {
  for (const content of target === targets[0] ? contents : contents.slice(0, 2)) {
    const bin = join(root, 'a/b/node_modules/.bin');
    const from = join(bin, target);
    mkdirSync(dirname(from), { recursive: true });
    mkdirSync(bin, { recursive: true });
    writeFileSync(from, content);
    await cmdShim(from, join(bin, 'tool'));
    const [sh, cmd, ps1] = ['', '.cmd', '.ps1'].map((ending) => readFileSync(join(bin, `tool${ending}`), 'utf8'));
    cases.push({ target, content, cmd, sh, ps1 });
  }
}
rmSync(root, { recursive: true });
console.log(JSON.stringify(cases, null, 1));
