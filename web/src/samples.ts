// The projects that the embedded registry can resolve, in the order in which they are offered.

import { isPlayed } from './state/played';

export interface Sample {
  /** The name of its folder and in its package.json. */
  readonly name: string;
  /** What the sample demonstrates. */
  readonly about: string;
  readonly manifest: string;
}

const ABOUT: Record<string, string> = {
  'express-api': 'An Express API with Jest, ESLint and a database',
  'vite-react-ts': 'A React app on Vite, in TypeScript',
  overrides: 'Overrides, and two Reacts under different names',
  'peer-conflict': 'Peers that can’t be met together, and what would help',
  sandbox: 'The React project of the online IDE in examples/sandbox',
  tiny: 'Three packages, to see everything at a glance',
};

const manifests = import.meta.glob<string>('../../tests/registry/projects/*/package.json', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** Absent in `espalier play`, which has no embedded registry. */
export const samples: readonly Sample[] = Object.entries(isPlayed ? {} : manifests)
  .map(([path, manifest]) => {
    const name = path.split('/').at(-2)!;
    return { name, about: ABOUT[name] ?? '', manifest: pretty(manifest) };
  })
  .sort((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1));

/** Formats a recorded manifest, which may be on one line. */
function pretty(manifest: string): string {
  return manifest.includes('\n  ') ? manifest : `${JSON.stringify(JSON.parse(manifest), null, 2)}\n`;
}

function rank(name: string): number {
  const position = Object.keys(ABOUT).indexOf(name);
  return position === -1 ? Infinity : position;
}
