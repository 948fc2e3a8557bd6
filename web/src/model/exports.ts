// The tree in the formats of others: an SBOM, an import map, a graph, a summary for an issue. Pure:
// from a tree to a text.

import { analyze, totals } from './analysis';
import { copiesOf, duplicatedNames, packageName, place } from './copies';
import { bytes, counted } from './format';
import { summarize } from './summary';
import { answer, packagesOf, type Tree } from './tree';

export interface Stamp {
  /** ISO 8601. */
  readonly time: string;
  /** A random UUID. */
  readonly id: string;
}

/** A name in a package URL: the at sign of a scope is escaped, and its slash is not. */
export function purl(tree: Tree, node: number): string {
  const { version } = tree.nodes[node]!;
  const name = packageName(tree.nodes[node]!).split('/').map(encodeURIComponent).join('/');
  return `pkg:npm/${name}${version ? `@${encodeURIComponent(version)}` : ''}`;
}

/** Espalier's own format: the nodes and edges of the graph. */
export function graphJson(tree: Tree): string {
  return json({ nodes: tree.nodes, edges: tree.edges });
}

/** CycloneDX 1.6. Several copies of one version are one component. */
export function cycloneDx(tree: Tree, { time, id }: Stamp): string {
  const refs = byPurl(tree);
  const components = [...refs].map(([ref, nodes]) => {
    const node = tree.nodes[nodes[0]!]!;
    const [group, name] = scoped(packageName(node));
    const hash = hashOf(node.integrity);
    return {
      type: 'library',
      'bom-ref': ref,
      ...(group ? { group } : {}),
      name,
      version: node.version ?? '',
      scope: nodes.every((one) => tree.nodes[one]!.optional || tree.nodes[one]!.dev) ? 'optional' : 'required',
      ...(hash ? { hashes: [{ alg: hash.alg, content: hash.hex }] } : {}),
      ...(node.license
        ? {
            licenses: [
              /[\s()]/.test(node.license) ? { expression: node.license } : { license: { name: node.license } },
            ],
          }
        : {}),
      purl: ref,
      ...(node.resolved ? { externalReferences: [{ type: 'distribution', url: node.resolved }] } : {}),
    };
  });
  const root = {
    type: 'application',
    'bom-ref': 'project',
    name: tree.nodes[0]!.name,
    version: tree.nodes[0]!.version ?? '',
  };
  const dependencies = [['project', [0]] as const, ...refs].map(([ref, nodes]) => ({
    ref,
    dependsOn: [...new Set(nodes.flatMap((node) => dependenciesOf(tree, node)))].sort(),
  }));
  return json({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${id}`,
    version: 1,
    metadata: { timestamp: time, tools: { components: [{ type: 'application', name: 'espalier' }] }, component: root },
    components,
    dependencies,
  });
}

/** SPDX 2.3. */
export function spdx(tree: Tree, { time, id }: Stamp): string {
  const refs = [...byPurl(tree)];
  const ids = new Map(refs.map(([ref], index) => [ref, `SPDXRef-Package-${index + 1}`]));
  const root = 'SPDXRef-Project';
  const packages = refs.map(([ref, nodes]) => {
    const node = tree.nodes[nodes[0]!]!;
    const hash = hashOf(node.integrity);
    return {
      SPDXID: ids.get(ref),
      name: packageName(node),
      versionInfo: node.version ?? '',
      downloadLocation: node.resolved ?? 'NOASSERTION',
      filesAnalyzed: false,
      licenseConcluded: 'NOASSERTION',
      licenseDeclared: /^[A-Za-z0-9.+() -]+$/.test(node.license ?? '') ? node.license : 'NOASSERTION',
      copyrightText: 'NOASSERTION',
      ...(hash ? { checksums: [{ algorithm: hash.alg.replace('-', ''), checksumValue: hash.hex }] } : {}),
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: ref }],
    };
  });
  const project = {
    SPDXID: root,
    name: tree.nodes[0]!.name,
    versionInfo: tree.nodes[0]!.version ?? '',
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: 'NOASSERTION',
    copyrightText: 'NOASSERTION',
  };
  const relationships = [[root, [0]] as const, ...refs.map(([ref, nodes]) => [ids.get(ref)!, nodes] as const)].flatMap(
    ([from, nodes]) =>
      [...new Set(nodes.flatMap((node) => dependenciesOf(tree, node)))].map((to) => ({
        spdxElementId: from,
        relationshipType: 'DEPENDS_ON',
        relatedSpdxElement: ids.get(to),
      })),
  );
  return json({
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: tree.nodes[0]!.name,
    documentNamespace: `urn:uuid:${id}`,
    creationInfo: { created: time, creators: ['Tool: espalier'] },
    packages: [project, ...packages],
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: root },
      ...relationships,
    ],
  });
}

/**
 * An import map for a server of `node_modules`: the package that each package finds under each
 * name.
 */
export function importMap(tree: Tree): string {
  const imports: Record<string, string> = {};
  const scopes: Record<string, Record<string, string>> = {};
  const target = (node: number) => `/${tree.nodes[node]!.location}/`;
  for (const edge of tree.out[0] ?? []) {
    const to = answer(tree, edge);
    if (to > 0 && !tree.nodes[to]!.inert) imports[`${tree.edges[edge]!.name}/`] = target(to);
  }
  for (const node of packagesOf(tree)) {
    if (tree.nodes[node]!.inert) continue;
    for (const edge of tree.out[node]!) {
      const to = answer(tree, edge);
      const name = `${tree.edges[edge]!.name}/`;
      if (to <= 0 || tree.nodes[to]!.inert || imports[name] === target(to)) continue;
      (scopes[target(node)] ??= {})[name] = target(to);
    }
  }
  return json({ imports, scopes });
}

/** A summary for an issue or a pull request. */
export function markdown(tree: Tree, link?: string): string {
  const { packages, figures } = summarize(tree);
  const { bytes: weight } = totals(tree);
  const { onlyBytes, only } = analyze(tree);
  const lines = [
    `### ${tree.nodes[0]!.name}: ${counted(packages, 'package')}${weight > 0 ? `, ${bytes(weight)} unpacked` : ''}`,
    '',
  ];
  if (figures.length > 0) lines.push(`${figures.map(({ count, word }) => `${count} ${word}`).join(', ')}.`, '');
  const direct = [...new Set((tree.out[0] ?? []).map((edge) => answer(tree, edge)))].filter((node) => node > 0);
  if (direct.length > 0) {
    lines.push('| Dependency | Version | Packages only through it | Frees |', '|---|---|---:|---:|');
    const heaviest = direct.sort((a, b) => onlyBytes[b]! - onlyBytes[a]! || only[b]! - only[a]!).slice(0, 15);
    for (const node of heaviest) {
      const { name, version = '' } = tree.nodes[node]!;
      lines.push(
        `| ${name} | ${version} | ${only[node]! - 1} | ${onlyBytes[node]! > 0 ? bytes(onlyBytes[node]!) : '–'} |`,
      );
    }
    lines.push('');
  }
  const copies = duplicatedNames(tree).slice(0, 20);
  if (copies.length > 0) lines.push('<details><summary>Duplicated</summary>', '');
  for (const name of copies) {
    const nodes = packagesOf(tree).filter((node) => packageName(tree.nodes[node]!) === name);
    const all = copiesOf(tree, tree.nodes[nodes[0]!]!);
    lines.push(
      `- **${name}**: ${all.map((node) => `${tree.nodes[node]!.version} ${place(tree.nodes[node]!)}`).join(', ')}`,
    );
  }
  if (copies.length > 0) lines.push('', '</details>', '');
  if (link) lines.push(`[Look at the tree](${link})`, '');
  return lines.join('\n');
}

function byPurl(tree: Tree): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const node of packagesOf(tree)) {
    if (tree.nodes[node]!.inert) continue;
    const ref = purl(tree, node);
    const list = found.get(ref);
    if (list) list.push(node);
    else found.set(ref, [node]);
  }
  return found;
}

function dependenciesOf(tree: Tree, node: number): string[] {
  const found = tree.out[node]!.map((edge) => answer(tree, edge)).filter((to) => to > 0 && !tree.nodes[to]!.inert);
  return found.map((to) => purl(tree, to));
}

function scoped(name: string): [string | undefined, string] {
  const [scope, own] = name.split('/');
  return own === undefined ? [undefined, name] : [scope, own];
}

const ALGORITHMS: Record<string, string> = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };

/** The first hash of an integrity. */
function hashOf(integrity: string | undefined): { alg: string; hex: string } | undefined {
  const [, name, base64] = /^(sha\d+)-([A-Za-z0-9+/=]+)/.exec(integrity ?? '') ?? [];
  const alg = name && ALGORITHMS[name];
  if (!alg || !base64) return undefined;
  const hex = Array.from(atob(base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  return { alg, hex };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
