// The types of `explain`.

import type { DependencyKind, ResolveInput } from './index.js';

/**
 * Explains why a package is in the tree: its dependents, their ranges, and their dependents, up to
 * the project. The answer is that of `npm explain --json` for the same lockfile. Nothing is
 * fetched.
 */
export function explain(input: ExplainInput): Promise<Explanation[]>;

/** The package to explain, and its tree. */
export interface ExplainInput extends Pick<ResolveInput, 'manifest' | 'lockfile' | 'files' | 'folderName' | 'signal'> {
  /**
   * A name, `name@range`, or a location: `node_modules/a/node_modules/b`. There is one explanation
   * for each match.
   */
  package: string;
}

/** A package and its dependents. The project itself has only a location. */
export interface Explanation {
  name?: string;
  version?: string;
  /**
   * Its location; for the project, its folder. Absent if it is explained further up, because
   * dependencies can form circles.
   */
  location?: string;
  isWorkspace?: boolean;
  /** Its dependents. */
  dependents?: Dependent[];
  /** The links to it. */
  linksIn?: Explanation[];
  /** The marks of the requested package. */
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
  /** The requested name. */
  name: string;
  /** The effective spec. */
  spec: string;
  /** The spec as written, if an override has changed it. */
  rawSpec?: string;
  overridden?: true;
  bundled?: true;
  error?: string;
  /** The dependent. */
  from: Explanation;
}
