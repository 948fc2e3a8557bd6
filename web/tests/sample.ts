// A small tree with one of everything: a duplicate, a cycle, a deprecated package, a missing peer,
// a package for other platforms.

import { treeOf, type Tree } from '../src/model/tree';
import { graphOfLock, type Lock } from './graph-of-lock';

export const SAMPLE: Lock = {
  '': {
    name: 'app',
    version: '1.0.0',
    dependencies: { a: '^1.0.0', b: '^2.0.0' },
    devDependencies: { test: '^3.0.0' },
  },
  'node_modules/a': { version: '1.2.0', license: 'MIT', dependencies: { shared: '^1.0.0', leaf: '*' } },
  'node_modules/b': {
    version: '2.0.0',
    license: 'ISC',
    dependencies: { shared: '^2.0.0' },
    peerDependencies: { absent: '^9.0.0' },
  },
  'node_modules/b/node_modules/shared': { version: '2.1.0', license: 'MIT', deprecated: 'use something else' },
  'node_modules/leaf': { version: '0.1.0', license: 'MIT', dependencies: { a: '^1.0.0' } },
  'node_modules/shared': { version: '1.5.0', license: 'MIT' },
  'node_modules/test': {
    version: '3.0.0',
    dev: true,
    dependencies: { leaf: '*', shared: '^1.0.0' },
    optionalDependencies: { gone: '1' },
  },
};

export function sampleTree(): Tree {
  return treeOf(graphOfLock(SAMPLE));
}

export function at(tree: Tree, location: string): number {
  const index = tree.at.get(location);
  if (index === undefined) throw new Error(`nothing at ${location}`);
  return index;
}
