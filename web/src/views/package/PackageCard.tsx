// One package: what it is, why it is here, who else holds a copy.

import { createMemo, For, Show } from 'solid-js';
import { copiesOf, packageName } from '../../model/copies';
import { counted } from '../../model/format';
import type { Tree } from '../../model/tree';
import { chainsTo } from '../../model/why';
import { title } from '../words';
import { Chains } from './Chains';
import { Copies } from './Copies';
import { Problems } from './Problems';

export function PackageCard(props: { tree: Tree; node: number }) {
  const node = () => props.tree.nodes[props.node]!;
  const chains = createMemo(() => chainsTo(props.tree, props.node));
  const copies = createMemo(() => copiesOf(props.tree, node()));
  const direct = () => props.tree.out[props.node]!.length;
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
          <span>{node().license ?? 'no license given'}</span>
          <For each={flags(node())}>{(flag) => <span class="soft">{flag}</span>}</For>
        </p>
        <p class="card-location mono soft">{node().location}</p>
      </header>
      <Problems tree={props.tree} node={props.node} />
      <section aria-label="Why it is here">
        <h2>Why it is here</h2>
        <Chains tree={props.tree} chains={chains()} />
      </section>
      <Show when={copies().length > 1}>
        <section aria-label="Copies">
          <h2 class="ochre">{counted(copies().length, 'copy', 'copies')} of it</h2>
          <Copies tree={props.tree} copies={copies()} current={props.node} />
        </section>
      </Show>
      <Show when={direct() > 0}>
        <p class="soft">
          Asks for {counted(direct(), 'package')}; {counted(props.tree.below[props.node]!, 'package stands', 'packages stand')} below it.
        </p>
      </Show>
    </article>
  );
}

function flags(node: { dev: boolean; optional: boolean; devOptional: boolean; peer: boolean; inert: boolean; inBundle: boolean }): string[] {
  return [
    ...(node.dev ? ['only for development'] : []),
    ...(node.optional ? ['optional'] : []),
    ...(node.devOptional ? ['for development or optional'] : []),
    ...(node.peer ? ['only as a peer'] : []),
    ...(node.inert ? ['not on this platform'] : []),
    ...(node.inBundle ? ['bundled'] : []),
  ];
}
