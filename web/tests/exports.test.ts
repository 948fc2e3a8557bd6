import { expect, test } from 'vitest';
import { cycloneDx, graphJson, importMap, markdown, purl, spdx } from '../src/model/exports';
import { treeOf } from '../src/model/tree';
import { graphOfLock } from './graph-of-lock';
import { at, sampleTree } from './sample';

const STAMP = { time: '2026-01-02T03:04:05Z', id: '00000000-0000-4000-8000-000000000000' };

test('the purl of a scoped package follows the specification', () => {
  const tree = treeOf(
    graphOfLock({ '': { name: 'app', dependencies: { '@s/a': '1' } }, 'node_modules/@s/a': { version: '1.0.0' } }),
  );
  expect(purl(tree, at(tree, 'node_modules/@s/a'))).toBe('pkg:npm/%40s/a@1.0.0');
});

test('CycloneDX lists every package and who depends on whom', () => {
  const bom = JSON.parse(cycloneDx(sampleTree(), STAMP));
  expect(bom.components.map(({ purl }: { purl: string }) => purl)).toContain('pkg:npm/shared@2.1.0');
  expect(bom.components.length).toBe(6);
  const refs = new Set(['project', ...bom.components.map((component: Record<string, string>) => component['bom-ref'])]);
  for (const { ref, dependsOn } of bom.dependencies) for (const one of [ref, ...dependsOn]) expect(refs).toContain(one);
  const b = bom.dependencies.find(({ ref }: { ref: string }) => ref === 'pkg:npm/b@2.0.0');
  expect(b.dependsOn).toEqual(['pkg:npm/shared@2.1.0']);
});

test('the graph lists every package, and every edge with its two ends', () => {
  const tree = sampleTree();
  const graph = JSON.parse(graphJson(tree));
  expect(graph.nodes.map(({ location }: { location: string }) => location)).toEqual([...tree.at.keys()]);
  const [from, to] = [at(tree, 'node_modules/b'), at(tree, 'node_modules/b/node_modules/shared')];
  expect(graph.edges).toContainEqual(
    expect.objectContaining({ from, to, name: 'shared', spec: '^2.0.0', kind: 'prod' }),
  );
  expect(graph.edges.length).toBe(tree.edges.length);
});

test('SPDX relates only packages that it describes', () => {
  const document = JSON.parse(spdx(sampleTree(), STAMP));
  const ids = new Set(document.packages.map(({ SPDXID }: { SPDXID: string }) => SPDXID));
  for (const { relatedSpdxElement } of document.relationships) expect(ids).toContain(relatedSpdxElement);
  expect(document.packages.length).toBe(7);
});

test('an import map gives a nested copy to its holder, and the top one to all others', () => {
  const map = JSON.parse(importMap(sampleTree()));
  expect(map.imports['a/']).toBe('/node_modules/a/');
  expect(map.scopes['/node_modules/b/']).toEqual({ 'shared/': '/node_modules/b/node_modules/shared/' });
});

test('the summary names duplicated packages and their places', () => {
  const text = markdown(sampleTree(), 'http://page.test/#x');
  expect(text).toContain('### app: 6 packages');
  expect(text).toContain('- **shared**: 2.1.0 under b, 1.5.0 at the top');
  expect(text).toContain('[Look at the tree](http://page.test/#x)');
});
