// Parses the field of the start page: a package.json, a lockfile, or names as for `npm install`.

import { packagesOfLock } from './compare';

export type Request =
  | { readonly kind: 'manifest'; readonly text: string }
  | { readonly kind: 'lock'; readonly text: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unclear'; readonly message: string };

/** The beginning of a pasted command, before the names. */
const COMMAND = /^\s*\$?\s*(?:npm|pnpm|yarn|bun)\s+(?:i|install|add|exec|x)?\b/;
const DEV = new Set(['-D', '--save-dev', '--dev']);
const NAME = /^(?:@[a-z0-9~_-][a-z0-9._~-]*\/)?[a-z0-9~_-][a-z0-9._~-]*$/i;

export function parseRequest(input: string): Request {
  const text = input.trim();
  if (text === '') return { kind: 'nothing' };
  // A text that begins as JSON is meant as JSON. The editor reports where it is invalid.
  if (text.startsWith('{')) return { kind: packagesOfLock(text) ? 'lock' : 'manifest', text: `${text}\n` };
  const words = text
    .replace(COMMAND, '')
    .split(/[\s,]+/)
    .filter(Boolean);
  const dev = words.some((word) => DEV.has(word));
  const dependencies: Record<string, string> = {};
  for (const word of words) {
    if (word.startsWith('-')) continue;
    const at = word.indexOf('@', 1);
    const name = at === -1 ? word : word.slice(0, at);
    if (!NAME.test(name)) {
      return {
        kind: 'unclear',
        message: `“${word}” is not a package name. Type names as for npm install, or paste a package.json.`,
      };
    }
    dependencies[name] = (at === -1 ? '' : word.slice(at + 1)) || 'latest';
  }
  if (Object.keys(dependencies).length === 0) return { kind: 'nothing' };
  const manifest = { name: 'my-project', private: true, [dev ? 'devDependencies' : 'dependencies']: dependencies };
  return { kind: 'manifest', text: `${JSON.stringify(manifest, null, 2)}\n` };
}
