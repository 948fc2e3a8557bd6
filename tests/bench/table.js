// Prints the figures as a table: the median, with the minimum and the maximum in brackets.
// @ts-check

/** @typedef {import('./browser.js').Figures} Figures */

/** @type {[string, (figures: Figures) => number | undefined, (value: number) => string][]} */
const COLUMNS = [
  ['ready', ({ ready }) => ready, seconds],
  ['installed', ({ done }) => done, seconds],
  ['longest task', ({ longest }) => longest, (value) => (value ? `${value} ms` : '≤ 50 ms')],
  ['requests', ({ requests }) => requests, String],
  ['received', ({ bytes }) => bytes, megabytes],
  ['kept in memory', ({ memory }) => memory, megabytes],
  ['most memory', ({ peak }) => peak, megabytes],
  ['code', ({ code }) => code?.raw, megabytes],
  ['as brotli', ({ code }) => code?.brotli, megabytes],
  ['packages', ({ packages }) => packages, String],
];

/** @param {Map<string, Figures[]>} results */
export function table(results) {
  const lines = [
    ['', ...COLUMNS.map(([title]) => title)],
    ['---', ...COLUMNS.map(() => '---:')],
  ];
  for (const [name, runs] of results) lines.push([name, ...COLUMNS.map((column) => cell(runs, column))]);
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** @param {Figures[]} runs @param {(typeof COLUMNS)[number]} column */
function cell(runs, [, value, show]) {
  const sorted = runs
    .map(value)
    .filter((value) => value !== undefined)
    .sort((a, b) => a - b);
  if (sorted.length === 0) return '–';
  const median = show(sorted[Math.floor(sorted.length / 2)] ?? 0);
  const [least, most] = [show(sorted[0] ?? 0), show(sorted.at(-1) ?? 0)];
  return least === most ? median : `${median} (${least}–${most})`;
}

/** @param {number} milliseconds */
function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
