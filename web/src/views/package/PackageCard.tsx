// The card of a package: facts, dependents, exclusive dependencies, copies and actions.

import { createMemo, For, Show } from 'solid-js';
import { analyze, reaches } from '../../model/analysis';
import { copiesOf, packageName } from '../../model/copies';
import { bytes, count, counted } from '../../model/format';
import { answer, type Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { title } from '../words';
import { Actions } from './Actions';
import { Copies } from './Copies';
import { Facts } from './Facts';
import { Problems } from './Problems';
import { Why } from './Why';

export function PackageCard(props: { tree: Tree; node: number }) {
  const { run, changes } = useSession();
  const node = () => props.tree.nodes[props.node]!;
  const copies = createMemo(() => copiesOf(props.tree, node()));
  const only = () => analyze(props.tree).only[props.node]! - 1;
  const direct = createMemo(() => {
    const found = props.tree.out[props.node]!.map((edge) => answer(props.tree, edge));
    return new Set(found.filter((node) => node > 0 && node !== props.node)).size;
  });
  const before = () => changes()?.before.get(node().location);
  return (
    <article class="card">
      <header>
        <p class="card-name mono">{title(node())}</p>
        <p class="card-facts">
          <span class="mono">{node().version}</span>
          <Show when={packageName(node()) !== title(node())}>
            <span>
              alias of <span class="mono">{packageName(node())}</span>
            </span>
          </Show>
          <Show when={node().license ?? (run.result() && !node().target && 'no license given')}>
            {(license) => <span>{license()}</span>}
          </Show>
          <Show when={node().unpackedSize !== undefined}>
            <span>
              {bytes(node().unpackedSize!)}
              <Show when={node().fileCount}>{(files) => <span class="soft"> in {counted(files(), 'file')}</span>}</Show>
            </span>
          </Show>
          <For each={flags(node())}>{(flag) => <span class="soft">{flag}</span>}</For>
          <Show when={node().hasInstallScript}>
            <span class="ochre">has install scripts</span>
          </Show>
          <Show when={node().nodeRange}>{(range) => <span class="soft">Node {range()}</span>}</Show>
        </p>
        <p class="card-location mono soft">{node().location}</p>
        <Show when={before()}>
          {(version) => (
            <p class="ochre">
              ~ was <span class="mono">{version()}</span>
            </p>
          )}
        </Show>
      </header>
      <Facts tree={props.tree} node={props.node} />
      <Problems tree={props.tree} node={props.node} />
      <Actions tree={props.tree} node={props.node} />
      <section aria-label="Why it’s installed">
        <h2>Why it’s installed</h2>
        <Why tree={props.tree} node={props.node} />
      </section>
      <section aria-label="What it brings">
        <h2>What it brings</h2>
        <p>
          <Show when={only() > 0} fallback="No other package is installed only for it.">
            {counted(only(), 'package is', 'packages are')} installed only for it
            <Show when={analyze(props.tree).onlyBytes[props.node]! > 0}>
              ; without it, {bytes(analyze(props.tree).onlyBytes[props.node]!)} would go
            </Show>
            .
          </Show>{' '}
          <Show when={direct() > 0}>
            It depends on {counted(direct(), 'package')}
            <Show when={reaches(props.tree, props.node) > direct()}>
              {' '}
              directly, and on {count(reaches(props.tree, props.node))} in total
            </Show>
            .
          </Show>
        </p>
      </section>
      <Show when={copies().length > 1}>
        <section aria-label="Copies">
          <h2 class="ochre">{counted(copies().length, 'copy', 'copies')} of it</h2>
          <Copies tree={props.tree} copies={copies()} current={props.node} />
        </section>
      </Show>
    </article>
  );
}

function flags(node: {
  dev: boolean;
  optional: boolean;
  devOptional: boolean;
  peer: boolean;
  inert: boolean;
  inBundle: boolean;
}): string[] {
  return [
    ...(node.dev ? ['only for development'] : []),
    ...(node.optional ? ['optional'] : []),
    ...(node.devOptional ? ['for development or optional'] : []),
    ...(node.peer ? ['only as a peer'] : []),
    ...(node.inert ? ['not on this platform'] : []),
    ...(node.inBundle ? ['bundled'] : []),
  ];
}
