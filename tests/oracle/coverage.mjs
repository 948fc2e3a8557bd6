// Which parts of npm's own placement code were executed, by V8's block coverage.

import { readFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// The rules that random manifests are meant to reach.
const files = ['arborist/build-ideal-tree.js', 'can-place-dep.js', 'place-dep.js', 'peer-entry-sets.js'];

// Has to be called before the code in question is loaded: V8 doesn't count blocks of code compiled earlier.
export const startCoverage = async () => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  // By file, for each character whether it was ever executed. V8 counts from one report to the next.
  const executed = new Map();
  return { report: (library) => report(session, library, executed) };
};

// What was never executed so far.
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

// V8's ranges of a function are nested; an inner range overrides the count of the ones around it.
const note = (executed, functions) => {
  const now = new Uint8Array(executed.length);
  const ranges = functions.flatMap(({ ranges }) => ranges);
  ranges.sort((one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset);
  for (const { startOffset, endOffset, count } of ranges) {
    now.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  now.forEach((reached, index) => (executed[index] |= reached));
};

// Beginnings and ends of what was never executed.
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
