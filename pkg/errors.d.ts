// The types of errors.

import type { DependencyKind } from './index.js';

/** One step of the chain from the root to the dependent. */
export interface Requirer {
  /** The package's name. For a nameless root, `root project`. */
  name: string;
  version?: string;
  /** Its location in the tree. Empty for the root. */
  location: string;
  /** The spec of its dependency on the next step. */
  spec: string;
  kind: DependencyKind;
}

/** Two demands for one package that can't both be met. */
export interface PeerConflict {
  /** One line of text. */
  summary: string;
  /** The package that both sides ask for. */
  name: string;
  /** The present version, and its dependents. */
  current: ConflictSide;
  /** The other demand, and its dependents. */
  wanted: ConflictSide;
}

/** Changes that resolve a conflict together. Each remedy was tried. */
export type Remedy = Change[];

/**
 * A change to a package.json of the project (or of the workspace in `folder`), or a flag of npm's.
 */
export type Change =
  /** Changes the range of a dependency. */
  | { kind: 'range'; folder?: string; block: string; name: string; from: string; to: string }
  /** Overrides a dependency of `parent`. */
  | { kind: 'override'; parent: string; name: string; spec: string }
  /** Removes a dependency. */
  | { kind: 'remove'; folder?: string; block: string; name: string }
  | { kind: 'flag'; flag: 'legacy-peer-deps' | 'force' };

/** One of the two sides of a conflict. */
export interface ConflictSide {
  /** The version of this side, if there is one. */
  version?: string;
  /** The requested spec. */
  spec: string;
  /** The dependents, from the root downwards. */
  chain: Requirer[];
}

/**
 * Codes of npm's libraries: `EINTEGRITY`: a tarball differs from its integrity. `ENOTCACHED`:
 * offline, and not in the cache. Codes with a meaning of Espalier's own: `EPREFLIGHT`: a registry
 * doesn't permit browsers to send a token. `ENETUNREACH`: no answer, or in a browser a missing CORS
 * header. `EINVALIDRESPONSE`: an unreadable answer. `EUNSUPPORTED`: impossible in this environment,
 * such as git specs. `EINPUT`: an invalid argument. `EWASM`: the WebAssembly module can't be loaded.
 * `ECRASH`: a bug in Espalier; the next call starts afresh.
 */
export type ErrorCode =
  | 'EJSONPARSE'
  | 'ETARGET'
  | 'E404'
  | 'E401'
  | 'E403'
  | 'ERESOLVE'
  | 'EOVERRIDE'
  | 'EBADENGINE'
  | 'EINVALIDPACKAGENAME'
  | 'EINVALIDSPEC'
  | 'EINTEGRITY'
  | 'EPREFLIGHT'
  | 'ENOTCACHED'
  | 'EUSAGE'
  | 'EALLOWREMOTE'
  | 'EALLOWGIT'
  | 'ELOCKNAME'
  | 'EINVALIDLOCK'
  | 'EPATCHFAILED'
  | 'EPATCHUNSAFE'
  | 'EPATCHNOTFOUND'
  | 'EPATCHINTEGRITY'
  // The status of a registry: E429, E503, …
  | `E${number}`
  | 'ENETUNREACH'
  | 'EINVALIDRESPONSE'
  | 'EUNSUPPORTED'
  | 'EINPUT'
  | 'EWASM'
  | 'ECRASH'
  // npm has more codes. This type shows the known ones in an editor.
  | (string & {});

/** The reason why a call failed. `message` is one sentence. */
export class EspalierError extends Error {
  constructor(details: ErrorDetails, options?: ErrorOptions);
  readonly name: 'EspalierError';
  /** npm's code of the error, or one of the codes above. */
  readonly code: ErrorCode;
  /** The package or file that could not be fetched. */
  readonly package?: string;
  /** The spec that no version satisfies. */
  readonly spec?: string;
  /** The dependents, from the root downwards. Empty if the root itself is at fault. */
  readonly chain: Requirer[];
  /** For `ERESOLVE`: the two sides. */
  readonly conflict?: PeerConflict;
  /** For `ERESOLVE`: the changes that resolve it, the smallest first, and then npm's flags. */
  readonly remedies?: Remedy[];
  /** For `EUSAGE`: the differences between the lockfile and package.json, in npm's words. */
  readonly differences?: string[];
  /** The location of a package that can't be installed. */
  readonly location?: string;
  /** For `ETARGET`: the nearest versions, best first. */
  readonly nearest?: string[];
  /** For failed requests: the address. */
  readonly url?: string;
  /** For a request that the registry refuses: the status. */
  readonly status?: number;
  /** For `EJSONPARSE`: the file, and the position counted from 1. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The error as plain data, which survives `postMessage` and `JSON.stringify`. */
  toJSON(): ErrorDetails;
}

/** The fields of an `EspalierError` as plain data. */
export interface ErrorDetails {
  code: ErrorCode;
  message: string;
  package?: string;
  spec?: string;
  chain?: Requirer[];
  conflict?: PeerConflict;
  remedies?: Remedy[];
  differences?: string[];
  location?: string;
  nearest?: string[];
  url?: string;
  status?: number;
  file?: string;
  line?: number;
  column?: number;
}
