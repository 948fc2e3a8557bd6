// The types of failures.

import type { DependencyKind } from './index.js';

/** One step of the chain from the root to the package that asked. */
export interface Requirer {
  /** The package's name; for the root, its name or `root project`. */
  name: string;
  version?: string;
  /** Where it is in the tree; empty for the root. */
  location: string;
  /** The spec by which it asks for the next one. */
  spec: string;
  kind: DependencyKind;
}

/** Two demands on one package that can't both be met where they have to be. */
export interface PeerConflict {
  /** One line. */
  summary: string;
  /** The package that both want. */
  name: string;
  /** The version that is in the way, and who wants it. */
  current: ConflictSide;
  /** What else is asked for, and by whom. */
  wanted: ConflictSide;
}

/** Changes that resolve a conflict when they are made together. Each remedy was tried. */
export type Remedy = Change[];

/** One change to a package.json of the project (of the workspace in `folder`, where there is one), or a flag of npm's. */
export type Change =
  /** Ask for another range. */
  | { kind: 'range'; folder?: string; block: string; name: string; from: string; to: string }
  /** Override what `parent` asks for. */
  | { kind: 'override'; parent: string; name: string; spec: string }
  /** Do without a dependency. */
  | { kind: 'remove'; folder?: string; block: string; name: string }
  | { kind: 'flag'; flag: 'legacy-peer-deps' | 'force' };

/** One of the two chains that collide. */
export interface ConflictSide {
  /** The version that this side would have, where one was found. */
  version?: string;
  /** The spec asked for. */
  spec: string;
  /** Who asked, from the root downwards. */
  chain: Requirer[];
}

/**
 * Codes that are not npm's own:
 * `EINTEGRITY` a tarball that isn't the promised one · `EPREFLIGHT` a registry that doesn't answer browsers' question for a token ·
 * `ENOTCACHED` nothing to be had offline · `ENETUNREACH` no answer: in a browser also a missing CORS header ·
 * `EINVALIDRESPONSE` an answer that can't be read · `EUNSUPPORTED` what this environment can't do, such as git
 * specs · `EINPUT` an argument of the wrong type · `EWASM` the WebAssembly module can't be loaded ·
 * `ECRASH` a bug in Espalier; the next call starts afresh.
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
  // A registry's status: E429, E503, …
  | `E${number}`
  | 'ENETUNREACH'
  | 'EINVALIDRESPONSE'
  | 'EUNSUPPORTED'
  | 'EINPUT'
  | 'EWASM'
  | 'ECRASH'
  // npm has more codes; this keeps the known ones visible in an editor.
  | (string & {});

/** Why there is no tree. `message` is one sentence for a person. */
export class EspalierError extends Error {
  constructor(details: ErrorDetails, options?: ErrorOptions);
  readonly name: 'EspalierError';
  /** npm's code for the same failure, or one of the few that npm doesn't need. */
  readonly code: ErrorCode;
  /** The package, or the file, that couldn't be had. */
  readonly package?: string;
  /** The spec that nothing meets. */
  readonly spec?: string;
  /** Who asked, from the root downwards; empty where the root itself is at fault. */
  readonly chain: Requirer[];
  /** For `ERESOLVE`: what collides. */
  readonly conflict?: PeerConflict;
  /** For `ERESOLVE`: what would resolve it, the smallest changes first, then npm's flags. */
  readonly remedies?: Remedy[];
  /** For `EUSAGE`: how the lockfile and package.json differ, in npm's words. */
  readonly differences?: string[];
  /** Of a package that can't be installed, where it was to go. */
  readonly location?: string;
  /** For `ETARGET`: the versions that come closest, best first. */
  readonly nearest?: string[];
  /** For failed requests: the address. */
  readonly url?: string;
  /** For a request that the registry refuses: its status. */
  readonly status?: number;
  /** For `EJSONPARSE`: the file, and the position counted from 1. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The same as plain data, which survives `postMessage` and `JSON.stringify`. */
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
