// Runs npm's own `npm install --package-lock-only` many times in one process, which saves most of
// the cost of a run: starting node, loading npm, parsing packuments.
//
//   node driver.mjs <folder of npm> <scratch folder> [--coverage]
//
// It reads a job per line from standard input and answers each with a line on standard output:
//   {"folder": …, "registry": …, "command": ["install", "a@1"], "arguments": ["--force", …]}
//   {"lockfile": …} or {"code": …, "message": …}, where the code is null if npm's error has none
// The lock and the changed package.json files are left in the job's folder, where npm put them.
// Another kind of job fetches a full packument:
//   {"packument": <name>, "registry": …}
// Another kind fetches a tarball, which npm verifies. The answer has it in base64:
//   {"tarball": <name@version>, "registry": …}
// If the process was started with --coverage, the last kind reports which of npm's code was not
// executed so far:
//   {"coverage": true}
// The first line of output names the versions of Node and npm.
//
// It uses npm's own command line class, so that arguments, .npmrc files and their defaults mean
// what they mean to npm. After a run, the environment and the working directory of the process are
// restored.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { startCoverage } from './coverage.mjs';

// npm reads the remaining arguments as its own, so these are removed.
const [npmFolder, scratch, ...switches] = process.argv.splice(2);
const coverage = switches.includes('--coverage') ? await startCoverage() : null;

const require = createRequire(join(npmFolder, 'package.json'));
const Npm = require('./lib/npm.js');
const pacote = require('pacote');

const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')),
);
// Parsed packuments, shared by all jobs with the same registry. npm's own cache excludes large
// ones.
const packuments = new Map();

const answer = (value) => new Promise((written) => process.stdout.write(`${JSON.stringify(value)}\n`, written));
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

const fixedArguments = [
  '--package-lock-only',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--allow-remote=all',
  '--allow-git=all',
  '--fetch-retries=0',
  '--logs-max=0',
  '--loglevel=silent',
  `--cache=${join(scratch, 'cache')}`,
  `--userconfig=${join(scratch, 'user.npmrc')}`,
  `--globalconfig=${join(scratch, 'global.npmrc')}`,
];

const prepare = async () => {
  await mkdir(scratch, { recursive: true });
  for (const name of ['user.npmrc', 'global.npmrc']) {
    await writeFile(join(scratch, name), '');
  }
};

const restoreProcess = () => {
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) {
      delete process.env[name];
    }
  }
  Object.assign(process.env, environment);
  process.chdir(scratch);
  process.exitCode = 0;
};

// npm also ends with unhandled errors from prefetching (lib/cli/exit-handler.js).
const crash = () => new Promise((_, fail) => process.once('uncaughtException', fail));

const run = async (job) => {
  process.chdir(job.folder ?? scratch);
  const argv = [
    ...(job.command ?? ['install']),
    `--registry=${job.registry}`,
    ...fixedArguments,
    ...(job.arguments ?? []),
  ];
  const npm = new Npm({ stdout: nowhere(), stderr: nowhere(), argv });
  try {
    const { command, args } = await npm.load();
    if (job.packument) {
      return await pacote.packument(job.packument, { ...npm.flatOptions, fullMetadata: true });
    }
    if (job.tarball) {
      const data = await pacote.tarball(job.tarball, npm.flatOptions);
      return { data: data.toString('base64') };
    }
    if (!packuments.has(job.registry)) {
      packuments.set(job.registry, new Map());
    }
    npm.flatOptions.packumentCache = packuments.get(job.registry);
    await Promise.race([npm.exec(command, args), crash()]);
    // Some commands write no lock.
    return { lockfile: await readFile(join(job.folder, 'package-lock.json'), 'utf8').catch(() => '') };
  } catch (error) {
    // The code of a failed git command is its exit code.
    return {
      code: error.code === undefined || error.code === null ? null : String(error.code),
      message: `${error.name}: ${error.message}`,
    };
  } finally {
    npm.unload();
    process.removeAllListeners('uncaughtException');
    restoreProcess();
  }
};

await prepare();
restoreProcess();
await answer({ node: process.version, npm: Npm.version });
for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  await answer(
    job.coverage
      ? { coverage: await coverage.report(join(npmFolder, 'node_modules/@npmcli/arborist/lib')) }
      : await run(job),
  );
}
await rm(join(scratch, 'cache'), { recursive: true, force: true });
