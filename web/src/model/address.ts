// Where the playground is, as the part of the address after `#`. What is as usual is left out, so that the
// address of the first page is bare.

export interface Address {
  readonly sample?: string | undefined;
  /** The text of a package.json that is no sample's, packed. */
  readonly manifest?: string | undefined;
  /** `embedded`, `public`, or an address. */
  readonly registry: string;
  readonly legacyPeerDeps: boolean;
  readonly force: boolean;
  /** The location of the selected package. */
  readonly at?: string | undefined;
  readonly query: string;
}

export const START: Address = { registry: 'embedded', legacyPeerDeps: false, force: false, query: '' };

export function parseAddress(hash: string): Address {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  return {
    sample: words.get('sample') ?? undefined,
    manifest: words.get('manifest') ?? undefined,
    registry: words.get('registry') || START.registry,
    legacyPeerDeps: words.has('legacy-peer-deps'),
    force: words.has('force'),
    at: words.get('at') ?? undefined,
    query: words.get('q') ?? '',
  };
}

export function formatAddress(address: Address): string {
  const words = new URLSearchParams();
  if (address.sample) words.set('sample', address.sample);
  else if (address.manifest) words.set('manifest', address.manifest);
  if (address.registry !== START.registry) words.set('registry', address.registry);
  if (address.legacyPeerDeps) words.set('legacy-peer-deps', '');
  if (address.force) words.set('force', '');
  if (address.at) words.set('at', address.at);
  if (address.query) words.set('q', address.query);
  // Slashes, colons and at signs are allowed after `#`, and easier to read as they are.
  return words.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%40', '@').replace(/=(?=&|$)/g, '');
}
