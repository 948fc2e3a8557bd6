import { expect, test } from 'vitest';
import { focus, through } from '../src/model/focus';
import { at, sampleTree } from './sample';

const names = (node: string) => {
  const tree = sampleTree();
  const { columns, links } = focus(tree, at(tree, node), 8);
  return {
    columns: columns.map(({ nodes }) => nodes.map((one) => tree.nodes[one]!.name).sort()),
    links: links
      .map(({ from, to, isWay }) => `${tree.nodes[from]!.name}${isWay ? '→' : '⇢'}${tree.nodes[to]!.name}`)
      .sort(),
  };
};

test('all shortest paths from the project are on the left, and dependencies on the right', () => {
  const { columns, links } = names('node_modules/leaf');
  expect(columns).toEqual([['app'], ['a', 'test'], ['leaf']]);
  // `leaf` asks for `a` as well, which is on the left already.
  expect(links).toEqual(['app→a', 'app→test', 'a→leaf', 'leaf⇢a', 'test→leaf'].sort());
});

test('a direct dependency has only the project on its left', () => {
  expect(names('node_modules/b').columns).toEqual([['app'], ['b'], ['shared']]);
});

test('packages without room are counted', () => {
  const tree = sampleTree();
  const { columns } = focus(tree, at(tree, 'node_modules/leaf'), 1);
  expect(columns[1]).toMatchObject({ more: 1 });
});

test('the path through a package leads from the project, by way of it, to the middle', () => {
  const tree = sampleTree();
  const [leaf, a, test] = ['leaf', 'a', 'test'].map((name) => at(tree, `node_modules/${name}`)) as [
    number,
    number,
    number,
  ];
  const graph = focus(tree, leaf, 8);
  const lit = (node: number) =>
    [...through(graph, leaf, node)].map(({ from, to }) => `${tree.nodes[from]!.name}→${tree.nodes[to]!.name}`).sort();
  expect(lit(a)).toEqual(['a→leaf', 'app→a', 'leaf→a'].sort());
  expect(lit(test)).toEqual(['app→test', 'test→leaf']);
  // Of a dependency, every way to the package that asks for it.
  const shared = at(tree, 'node_modules/b/node_modules/shared');
  const b = at(tree, 'node_modules/b');
  const beside = focus(tree, b, 8);
  expect([...through(beside, b, shared)].map(({ to }) => to).sort()).toEqual([b, shared].sort());
});
