// Explains why a package is installed: the dependents up to the project, with their ranges aligned
// at the right.

import { createMemo, createSignal, For, Show } from 'solid-js';
import { count } from '../../model/format';
import type { Tree } from '../../model/tree';
import { whyTree, type Step } from '../../model/why';
import { useSession } from '../../state/session';
import { kindWord, title } from '../words';

const FEW = { each: 4, all: 16 };
const ALL = { each: 400, all: 400 };

/** A step, or the number of omitted steps at a level. */
interface LineOf {
  readonly step?: Step;
  readonly more: number;
  readonly level: number;
}

export function Why(props: { tree: Tree; node: number }) {
  const { view } = useSession();
  const [isAll, setAll] = createSignal(false);
  const steps = createMemo(() => whyTree(props.tree, props.node, isAll() ? ALL : FEW));
  /** The number of omitted steps is below everything that belongs to the steps before it. */
  const lines = createMemo(() => {
    const list: LineOf[] = [];
    const waiting: LineOf[] = [];
    for (const step of steps()) {
      while (waiting.length > 0 && waiting.at(-1)!.level >= step.level) list.push(waiting.pop()!);
      list.push({ step, more: 0, level: step.level });
      if (step.more > 0 && !isAll()) waiting.push({ more: step.more, level: step.level });
    }
    return [...list, ...waiting.reverse()];
  });
  const hidden = () => steps().some(({ more }) => more > 0) || steps().length >= FEW.all;
  const select = (node: number) => (node === 0 ? view.deselect() : view.choose(props.tree.nodes[node]!.location));
  return (
    <Show when={steps().length > 0} fallback={<p class="soft">No package depends on it.</p>}>
      <ol class="why">
        <For each={lines()}>
          {({ step, more, level }) => (
            <Show
              when={step}
              fallback={
                <li class="why-step why-more soft" style={{ '--level': level }}>
                  and {count(more)} more
                </li>
              }
            >
              {(known) => <Line tree={props.tree} step={known()} select={select} />}
            </Show>
          )}
        </For>
      </ol>
      <Show when={hidden() && !isAll()}>
        <button type="button" class="link soft" onClick={() => setAll(true)}>
          Show all
        </button>
      </Show>
    </Show>
  );
}

function Line(props: { tree: Tree; step: Step; select: (node: number) => void }) {
  const edge = () => props.tree.edges[props.step.edge]!;
  return (
    <li class="why-step" style={{ '--level': props.step.level }}>
      <button type="button" class="link mono why-who" onClick={() => props.select(props.step.node)}>
        {title(props.tree.nodes[props.step.node])}
      </button>
      <span class="mono soft why-version">
        {props.step.isRepeated ? 'as above' : props.tree.nodes[props.step.node]!.version}
      </span>
      <span class="why-range mono" classList={{ rust: edge().error !== undefined }} title={edge().spec}>
        <Show when={edge().kind !== 'prod'}>
          <span class="soft">{kindWord(edge().kind)} </span>
        </Show>
        {edge().spec}
      </span>
    </li>
  );
}
