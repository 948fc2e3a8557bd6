// Compares two lockfiles of a project. The registry that a package came from makes no difference.

export interface Difference {
  readonly location: string;
  /** The versions. Absent if the package does not exist. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

type Packages = Record<string, { version?: string; link?: boolean; dependencies?: object }>;

/** The packages of a lockfile. Undefined unless it is one of version 2 or later. */
export function packagesOfLock(text: string): Packages | undefined {
  try {
    const { packages } = JSON.parse(text) as { packages?: unknown };
    return typeof packages === 'object' && packages !== null ? (packages as Packages) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether both are the same to the byte, apart from the registries that they name. */
export function isIdentical(before: string, after: string): boolean {
  return withoutOrigins(before) === withoutOrigins(after);
}

/** Added and removed packages, and those with another version. */
export function differences(before: Packages, after: Packages): Difference[] {
  const locations = new Set([...Object.keys(before), ...Object.keys(after)]);
  locations.delete('');
  return [...locations]
    .map((location) => ({ location, before: version(before, location), after: version(after, location) }))
    .filter((pair) => pair.before !== pair.after)
    .sort((a, b) => (a.location < b.location ? -1 : 1));
}

/** The package.json of a lockfile, as far as the lockfile has it: without overrides and scripts. */
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
