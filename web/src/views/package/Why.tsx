// Explains why a package is installed: the dependents up to the project, with their ranges. A range
// is never cut off, because it is the answer.

import { createMemo, createSignal, For, Show } from 'solid-js';
import { count } from '../../model/format';
import type { Tree } from '../../model/tree';
import { railsOf, whyTree, type Step } from '../../model/why';
import { useSession } from '../../state/session';
import { kindWord, title } from '../words';

const FEW = { each: 4, all: 16 };
const ALL = { each: 400, all: 400 };

/** A step, or the number of omitted steps at a level. */
interface LineOf {
  readonly step?: Step;
  readonly more: number;
  readonly level: number;
  /** The levels whose guide lines run past this line. */
  readonly rails?: readonly number[];
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
    const all = [...list, ...waiting.reverse()];
    const rails = railsOf(all.map(({ level }) => level));
    return all.map((line, index) => ({ ...line, rails: rails[index]! }));
  });
  const hidden = () => steps().some(({ more }) => more > 0) || steps().length >= FEW.all;
  const select = (node: number) => (node === 0 ? view.deselect() : view.choose(props.tree.nodes[node]!.location));
  return (
    <Show when={steps().length > 0} fallback={<p class="soft">No package depends on it.</p>}>
      <ol class="why">
        <For each={lines()}>
          {({ step, more, level, rails }) => (
            <li class="why-step" style={{ '--level': level }}>
              <For each={rails}>
                {(rail) => <i class="why-rail" classList={{ own: rail === level }} style={{ '--level': rail }} />}
              </For>
              <Show when={step} fallback={<span class="why-more soft">and {count(more)} more</span>}>
                {(known) => <Line tree={props.tree} step={known()} select={select} />}
              </Show>
            </li>
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
    <>
      <span class="why-who mono">
        <button type="button" class="link" onClick={() => props.select(props.step.node)}>
          {title(props.tree.nodes[props.step.node])}
        </button>{' '}
        <span class="soft why-version">
          {props.step.isRepeated ? 'as above' : props.tree.nodes[props.step.node]!.version}
        </span>
      </span>{' '}
      <span class="why-range mono" classList={{ rust: edge().error !== undefined }}>
        <Show when={edge().kind !== 'prod'}>
          <span class="soft">{kindWord(edge().kind)} </span>
        </Show>
        {edge().spec}
      </span>
    </>
  );
}
