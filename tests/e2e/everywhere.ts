// One project at one registry, installed by npm and by us: natively, in Node and in a tab, cold and
// warm. All have to agree.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { executable, root } from '../replay.js';
import { runNpm, withoutNpm } from '../verdaccio/npm.js';
import { installed, listed, type Tree } from './trees';

export interface Project {
  manifest: string;
  npmrc: string;
  environment?: Record<string, string>;
}

/** Makes a project's folder, in which the settings of the current user have no effect. */
function made(place: string, who: string, { manifest, npmrc }: Project): string {
  const folder = join(place, who, 'app');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), manifest);
  writeFileSync(join(folder, '.npmrc'), npmrc);
  return folder;
}

function tree(folder: string): Tree {
  return { lockfile: readFileSync(join(folder, 'package-lock.json'), 'utf8'), files: listed(folder) };
}

/** Installs a project with npm. */
export function byNpm(npm: string, place: string, project: Project): Tree {
  const folder = made(place, 'npm', project);
  runNpm(npm, folder, ['install', '--ignore-scripts'], project.environment);
  return tree(folder);
}

/** The code of npm's error. */
export function codeOfNpm(npm: string, place: string, project: Project): string | undefined {
  const folder = made(place, 'npm', project);
  try {
    runNpm(npm, folder, ['install', '--package-lock-only', '--fetch-retries=0'], project.environment);
  } catch (error) {
    return /^npm error code (\S+)/m.exec(String((error as { stderr: Buffer }).stderr))?.[1];
  }
  return undefined;
}

/** Runs `espalier` in a folder. */
export function native(place: string, folder: string, options: string[], environment?: Record<string, string>): string {
  return execFileSync(executable('espalier-cli'), options, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...withoutNpm(process.env),
      ...environment,
      ESPALIER_CACHE_DIR: join(place, 'cache'),
      npm_config_userconfig: join(place, 'userconfig'),
      npm_config_globalconfig: join(place, 'globalconfig'),
      npm_config_fetch_retry_mintimeout: '1',
    },
  });
}

/** Expects the same result from `espalier`, with an empty cache, with a full one, and offline. */
export function expectNatively(place: string, project: Project, expected: Tree) {
  const folder = made(place, 'native', project);
  for (const options of [['install'], ['install'], ['ci'], ['ci', '--offline'], ['install', '--offline']]) {
    if (options[0] === 'install') rmSync(join(folder, 'package-lock.json'), { force: true });
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
    native(place, folder, [...options, '--ignore-scripts', '--quiet'], project.environment);
    expect(tree(folder), options.join(' ')).toEqual(expected);
  }
}

/**
 * Expects the same result from Espalier natively, in Node and in a tab, in the same ways. `pages`
 * serves the npm package.
 */
export async function expectEverywhere(page: Page, pages: string, place: string, project: Project, expected: Tree) {
  expectNatively(place, project, expected);
  const runs = [{}, { cache: true }, { cache: true, offline: true }];
  const input = { ...project, folderName: 'app', nodeVersion: process.versions.node };
  expect(await installed({ module: join(root, 'pkg/dist/node.js'), input, runs })).toEqual(runs.map(() => expected));
  await page.goto(`${pages}/-/stats`);
  const inTab = await page.evaluate(installed, { module: `${pages}/index.js`, input, runs });
  expect(inTab).toEqual(runs.map(() => expected));
}

/** A failure, as Espalier reports it. */
export interface Told {
  code: string;
  package?: string;
  url?: string;
  /** The description of the registry's answer. */
  words: string;
}

interface Thrown {
  code: string;
  message: string;
  package?: string;
  url?: string;
}

/** Returns a project's native failure, and expects the same failure in Node and in a tab. */
export async function failsEverywhere(page: Page, pages: string, place: string, project: Project): Promise<Told> {
  const folder = made(place, 'failing', project);
  const options = ['lock', '--json', '--node-version', process.versions.node];
  let output = '';
  try {
    output = native(place, folder, options, project.environment);
  } catch (error) {
    output = (error as { stdout: string }).stdout;
  }
  const input = { ...project, folderName: 'app', nodeVersion: process.versions.node, retries: 0 };
  const inNode = await failure({ module: join(root, 'pkg/dist/node.js'), input });
  await page.goto(`${pages}/-/stats`);
  const inTab = await page.evaluate(failure, { module: `${pages}/index.js`, input });
  const { error } = JSON.parse(output) as { error: Thrown & { fetch: { message: string; url: string } } };
  const { code, package: name, fetch } = error;
  for (const thrown of [inNode, inTab]) {
    expect(thrown).toMatchObject({ code, url: fetch.url, ...(name && { package: name }) });
    expect(thrown?.message).toContain(fetch.message);
  }
  return { code, url: fetch.url, words: fetch.message, ...(name && { package: name }) };
}

async function failure({ module, input }: { module: string; input: object }): Promise<Thrown | undefined> {
  const { resolve } = await import(module);
  return resolve(input).result.then(
    () => undefined,
    (error: Error & { toJSON?: () => Thrown }) => error.toJSON?.() ?? { code: 'none', message: error.message },
  );
}
