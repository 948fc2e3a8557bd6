// Which credential an address may see. It is sent to what lies below the address it is for, and, of packages of a registry that it is
// for, to that registry's origin, because some serve tarballs under another path. To nothing else.

export class Credentials {
  /** `registryOf` gives the address of the registry that a package comes from. */
  constructor(
    readonly authorizations: ReadonlyMap<string, string>,
    readonly registryOf: (name: string) => string | undefined,
  ) {}

  /** The `Authorization` for an address of a package. */
  authorization(address: string, name: string): string | undefined {
    if (this.authorizations.size === 0) return undefined;
    const url = new URL(address);
    const registry = this.registryOf(name);
    const ofRegistry = registry !== undefined && new URL(registry).origin === url.origin ? registry : undefined;
    return this.#below(url) ?? (ofRegistry && this.#below(new URL(ofRegistry)));
  }

  /** The credential for the longest address that this one is below. */
  #below(url: URL): string | undefined {
    const folders = url.pathname.split('/').slice(0, -1);
    for (let depth = folders.length; depth > 0; depth--) {
      const found = this.authorizations.get(`//${url.host}${folders.slice(0, depth).join('/')}/`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** An address as a key. */
export function tokenKey(address: string): string {
  const url = new URL(address);
  return `//${url.host}${url.pathname.replace(/\/*$/, '/')}`;
}
