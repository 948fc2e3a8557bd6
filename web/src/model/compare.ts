// How a lockfile differs from another one of the same project. Where a package was downloaded from doesn't count.

export interface Difference {
  readonly location: string;
  /** Versions; absent where the package isn't there. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

type Packages = Record<string, { version?: string; link?: boolean; dependencies?: object }>;

/** Undefined when the text isn't a lockfile that lists its packages (version 2 or later). */
export function packagesOfLock(text: string): Packages | undefined {
  try {
    const { packages } = JSON.parse(text) as { packages?: unknown };
    return typeof packages === 'object' && packages !== null ? (packages as Packages) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether both say the same to the byte, apart from the registries that they name. */
export function isIdentical(before: string, after: string): boolean {
  return withoutOrigins(before) === withoutOrigins(after);
}

/** Packages that came, went, or changed their version. */
export function differences(before: Packages, after: Packages): Difference[] {
  const locations = new Set([...Object.keys(before), ...Object.keys(after)]);
  locations.delete('');
  return [...locations]
    .map((location) => ({ location, before: version(before, location), after: version(after, location) }))
    .filter((pair) => pair.before !== pair.after)
    .sort((a, b) => (a.location < b.location ? -1 : 1));
}

/** The package.json that a lockfile was made for, as far as it tells: without overrides and scripts. */
export function manifestOfLock(text: string): string | undefined {
  const root = packagesOfLock(text)?.[''];
  return root && `${JSON.stringify(root, null, 2)}\n`;
}

function version(packages: Packages, location: string): string | undefined {
  const entry = packages[location];
  return entry && (entry.version ?? (entry.link ? 'link' : 'unversioned'));
}

function withoutOrigins(text: string): string {
  // A registry may itself be in a folder of its host; the package's own path begins with its name.
  return text.replace(/("resolved": ")[^"]*?\/((?:@[^/"]+\/)?[^/"]+\/-\/[^"]+")/g, '$1$2');
}
