// Reports which parts of npm's placement code were executed, with V8's block coverage.

import { readFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// The rules that random manifests should reach.
const files = ['arborist/build-ideal-tree.js', 'can-place-dep.js', 'place-dep.js', 'peer-entry-sets.js'];

// Must be called before the measured code is loaded, because V8 does not count blocks of code that
// was compiled earlier.
export const startCoverage = async () => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  // For each character of each file, whether it was executed. V8 counts from one report to the
  // next.
  const executed = new Map();
  return { report: (library) => report(session, library, executed) };
};

// The code that was not executed so far.
const report = async (session, library, executed) => {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  for (const { url, functions } of result) {
    const file = url.startsWith('file:') && relative(library, fileURLToPath(url));
    if (file && files.includes(file) && url === pathToFileURL(fileURLToPath(url)).href) {
      if (!executed.has(file)) {
        executed.set(file, new Uint8Array((await readFile(fileURLToPath(url), 'utf8')).length));
      }
      note(executed.get(file), functions);
    }
  }
  const unreached = [...executed].map(([file, characters]) => ({ file, unreached: gaps(characters) }));
  return unreached.sort((one, other) => one.file.localeCompare(other.file, 'en'));
};

// V8's ranges of a function are nested. An inner range overrides the count of the outer ones.
const note = (executed, functions) => {
  const now = new Uint8Array(executed.length);
  const ranges = functions.flatMap(({ ranges }) => ranges);
  ranges.sort((one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset);
  for (const { startOffset, endOffset, count } of ranges) {
    now.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  now.forEach((reached, index) => (executed[index] |= reached));
};

// The ranges that were not executed.
const gaps = (executed) => {
  const found = [];
  for (let start = executed.indexOf(0); start !== -1; ) {
    const after = executed.indexOf(1, start);
    const end = after === -1 ? executed.length : after;
    found.push([start, end]);
    start = executed.indexOf(0, end);
  }
  return found;
};
