// The types of `explain`.

import type { DependencyKind, ResolveInput } from './index.js';

/**
 * Why a package is in the tree: who asks for it, by which range, and who asks for those, up to the project. What
 * `npm explain --json` says of the same lockfile. Nothing is fetched.
 */
export function explain(input: ExplainInput): Promise<Explanation[]>;

/** What to explain, in which tree. */
export interface ExplainInput extends Pick<ResolveInput, 'manifest' | 'lockfile' | 'files' | 'folderName' | 'signal'> {
  /** A name, `name@range`, or a location: `node_modules/a/node_modules/b`. One explanation for each package it means. */
  package: string;
}

/** A package and who asks for it. The project itself has nothing but its location. */
export interface Explanation {
  name?: string;
  version?: string;
  /** Where it is; of the project, its folder. Absent where it was explained further up, because dependencies can be circles. */
  location?: string;
  isWorkspace?: boolean;
  /** Who asks for it. */
  dependents?: Dependent[];
  /** The links that lead to it. */
  linksIn?: Explanation[];
  /** Of the package that was asked for. */
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
  peer?: boolean;
  bundled?: boolean;
  overridden?: boolean;
  extraneous?: boolean;
}

/** A dependency that leads to the package. */
export interface Dependent {
  type: DependencyKind;
  /** The name asked for. */
  name: string;
  /** The spec that is in force. */
  spec: string;
  /** The spec as written, where an override changed it. */
  rawSpec?: string;
  overridden?: true;
  bundled?: true;
  error?: string;
  /** Who asks. */
  from: Explanation;
}
