// The edited project: its files and its lock. This browser stores them, so that they survive a
// reload.

const TEMPLATE = import.meta.glob<string>('../template/*', { query: '?raw', import: 'default', eager: true });
const KEY = 'sandbox';

interface Saved {
  files: Record<string, string>;
  lockfile?: string;
}

export class Project {
  readonly files: Record<string, string>;
  /** The lock of the last installation, from which the next one starts. */
  lockfile: string | undefined;

  constructor() {
    const saved = read();
    this.files = saved?.files ?? template();
    this.lockfile = saved?.lockfile;
  }

  get manifest(): string {
    return this.files['package.json'] ?? '{}';
  }

  /** The dependencies in package.json. `undefined` while it is invalid. */
  get dependencies(): Record<string, string> | undefined {
    return dependenciesOf(this.manifest);
  }

  save(): void {
    // Without storage (in a private window, or on a full disk), the project is lost with the page.
    try {
      localStorage.setItem(KEY, JSON.stringify({ files: this.files, lockfile: this.lockfile } satisfies Saved));
    } catch {}
  }

  static forget(): void {
    try {
      localStorage.removeItem(KEY);
    } catch {}
  }
}

/** The package.json with an added or a removed dependency, in npm's order. */
export function withDependency(manifest: string, name: string, spec: string | undefined): string {
  const parsed = JSON.parse(manifest) as { dependencies?: Record<string, string> };
  const { [name]: _, ...others } = parsed.dependencies ?? {};
  const entries = Object.entries(spec === undefined ? others : { ...others, [name]: spec });
  parsed.dependencies = Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b, 'en')));
  return `${JSON.stringify(parsed, null, 2)}\n`;
}

function dependenciesOf(manifest: string): Record<string, string> | undefined {
  try {
    return (JSON.parse(manifest) as { dependencies?: Record<string, string> }).dependencies ?? {};
  } catch {
    return undefined;
  }
}

function template(): Record<string, string> {
  const name = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  return Object.fromEntries(Object.entries(TEMPLATE).map(([path, text]) => [name(path), text]));
}

function read(): Saved | undefined {
  try {
    const saved = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Partial<Saved> | null;
    return typeof saved?.files?.['package.json'] === 'string' ? (saved as Saved) : undefined;
  } catch {
    return undefined;
  }
}
