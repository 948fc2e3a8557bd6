// Records which files npm packs: node tests/oracle/packing.mjs NPM >
// crates/espalier-install/tests/packing/lists.json
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const require = createRequire(resolve(process.argv[2], 'package.json'));
const packlist = require('npm-packlist');
const Arborist = require('@npmcli/arborist');

let state = 11;
const below = (limit) => {
  state = (state * 1103515245 + 12345) % 2147483648;
  return Math.floor((state / 2147483648) * limit);
};
const one = (list) => list[below(list.length)];
const some = (list, most) => Array.from({ length: below(most + 1) }, () => one(list));

const names = [
  'a.js',
  'b.ts',
  'index.js',
  'README.md',
  'LICENSE',
  'license.txt',
  'readme~',
  'CHANGELOG.md',
  '.eslintrc',
  '.npmrc',
  'yarn.lock',
  'package-lock.json',
  '.gitignore',
  '.npmignore',
  'x.orig',
  '.DS_Store',
  '._y',
  'copying',
  'npm-debug.log',
  '.x.swp',
  'UPPER.JS',
  'package.json',
];
const folders = [
  '',
  '',
  '',
  'lib',
  'lib/deep',
  'dist',
  'test',
  'src',
  'node_modules/b',
  '.git',
  'lib/.git',
  'build',
  'CVS',
  'lib/node_modules/c',
  'archived-packages',
  '.github',
];
const patterns = [
  'lib',
  'lib/',
  '/lib',
  './dist',
  'dist/**',
  '*.js',
  '**/*.js',
  '!lib/deep',
  '!**/*.ts',
  'lib/*.js',
  'src/**/b.*',
  '{lib,dist}/a.js',
  'README.md',
  '.npmrc',
  'node_modules',
  '.',
  '*',
  '**',
  '!*.md',
  'nothing',
  'LIB',
  'lib/deep/..',
  '@(lib|src)',
  'test/*',
  '!test',
  'package.json',
  '/*',
  'l?b',
  '[a-l]ib',
  'index',
  '.git',
  '../x',
  'lib//deep',
  '.gitignore',
  'upper.js',
];
const ignores = [
  '*.ts',
  'lib',
  'lib/',
  '/lib',
  'lib/*',
  '!lib/a.js',
  'deep',
  '**/deep',
  '*',
  '!*.js',
  '!lib',
  '!lib/**',
  '# no',
  '',
  '  dist  ',
  'dist/**',
  '!/README.md',
  'package.json',
  'README*',
  '*.{js,md}',
  'test/',
  '!test/a.js',
  '**',
  '/a.js',
  'a.js',
  '!a.js',
  'node_modules',
  '!.npmrc',
  '!.git',
  '\\#x',
  'lib/deep/',
  'src/*',
  '!src/index.js',
  'LIB/A.js',
];

const manifest = () => {
  const result = { name: 'x', version: '1.0.0' };
  if (below(2)) result.files = some(patterns, 4);
  if (below(3) === 0) result.main = one(['lib/a.js', './lib/a.js', 'dist', 'index', 'test/index.js', '']);
  if (below(4) === 0) result.bin = one(['./test/a.js', { y: 'src/a.js', z: './dist/index.js' }, 'lib']);
  if (below(6) === 0) result.browser = one(['src/index.js', { a: './b' }]);
  if (below(5) === 0) {
    result.dependencies = { b: '*', c: '*' };
    result.bundleDependencies = one([['b'], ['b', 'c'], true, ['none']]);
  }
  if (below(8) === 0) result.patchedDependencies = { b: one(['lib/a.js', './test/b.ts', '../x', '/src/a.js']) };
  return result;
};

const cases = [];
while (cases.length < 150) {
  const files = { 'package.json': JSON.stringify(manifest()) };
  for (let count = below(22); count > 0; count--) {
    const folder = one(folders);
    const name = one(names);
    const path = folder ? `${folder}/${name}` : name;
    if (path === 'package.json') continue;
    if (name === 'package.json') {
      const dependencies = below(2) ? { c: '*' } : undefined;
      files[path] = JSON.stringify({
        name: folder.split('/').pop(),
        version: '1.0.0',
        dependencies,
        files: below(2) ? ['a.js'] : undefined,
      });
    } else {
      files[path] = name.endsWith('ignore') ? some(ignores, 5).join('\n') : '';
    }
  }
  const folder = mkdtempSync(join(tmpdir(), 'packing-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  try {
    const tree = await new Arborist({ path: folder }).loadActual();
    const listed = await packlist(tree, { path: folder });
    const packed = [...new Set(listed.map((path) => path.replace(/^\.\//, '')))];
    packed.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    cases.push({ files, packed });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
process.stdout.write(`[\n${cases.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
