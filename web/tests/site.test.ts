import { expect, test } from 'vitest';
import type { GraphNode } from '../src/engine/types';
import { pageOnSite } from '../src/model/site';

const REGISTRY = 'https://registry.example.test/';

function node(name: string, resolved: string | undefined, packageName?: string): GraphNode {
  return { name, resolved, packageName } as GraphNode;
}

test.each<[what: string, registry: string, package_: GraphNode, page: string | undefined]>([
  ['a package', REGISTRY, node('ms', `${REGISTRY}ms/-/ms-2.1.3.tgz`), 'https://www.example.test/package/ms'],
  [
    'a package with a scope',
    REGISTRY,
    node('@babel/core', `${REGISTRY}@babel/core/-/core-7.0.0.tgz`),
    'https://www.example.test/package/@babel/core',
  ],
  [
    'an alias, by the name that the registry knows',
    REGISTRY,
    node('react-old', `${REGISTRY}react/-/react-17.0.0.tgz`, 'react'),
    'https://www.example.test/package/react',
  ],
  ['a package from another host', REGISTRY, node('ms', 'https://code.test/ms.tgz'), undefined],
  [
    'a package from a host with the same beginning',
    REGISTRY,
    node('ms', 'https://registry.example.test.evil.test/ms.tgz'),
    undefined,
  ],
  ['a folder', REGISTRY, node('ui', undefined), undefined],
  [
    'a package of a registry without a known site',
    'https://npm.test/',
    node('ms', 'https://npm.test/ms/-/ms-2.1.3.tgz'),
    undefined,
  ],
])('the page on the site of %s', (_, registry, package_, page) => {
  expect(pageOnSite(registry, package_)).toBe(page);
});
