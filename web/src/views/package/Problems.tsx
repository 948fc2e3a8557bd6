// The problems of a package, in sentences.

import { For, Show } from 'solid-js';
import type { GraphEdge } from '../../engine/types';
import { isUnmet } from '../../model/problems';
import { answer, type Tree } from '../../model/tree';

export function Problems(props: { tree: Tree; node: number }) {
  const unmet = () => props.tree.out[props.node]!.filter((edge) => isUnmet(props.tree.edges[edge]!));
  const words = (index: number): string => {
    const edge: GraphEdge = props.tree.edges[index]!;
    const version = props.tree.nodes[answer(props.tree, index)]?.version;
    return version
      ? `Wants ${edge.name} ${edge.spec}, and gets ${version}.`
      : `Wants ${edge.name} ${edge.spec}, which is not there.`;
  };
  return (
    <>
      <Show when={props.tree.nodes[props.node]!.deprecated}>
        {(message) => (
          <p class="problem">
            <span class="rust">Deprecated.</span> {message()}
          </p>
        )}
      </Show>
      <For each={unmet()}>{(edge) => <p class="problem rust">{words(edge)}</p>}</For>
    </>
  );
}
