// Duplicated packages: one card for each name, with possible remedies.

import { createEffect, createMemo, createSignal, For, onCleanup, Show } from 'solid-js';
import { bytesOf } from '../../model/analysis';
import { copiesOf, duplicatedNames, packageName, place } from '../../model/copies';
import { bytes, count, counted } from '../../model/format';
import { packagesOf, type Tree } from '../../model/tree';
import { apart } from '../../model/sharing';
import { outcomeOf, triesFor, type Outcome } from '../../model/tries';
import { useSession } from '../../state/session';
import { focusView } from '../frame/focus';
import { Sign } from '../Sign';
import { Tries, type Verdict } from '../tries/Tries';
import { title } from '../words';
import './duplicates.css';

const FIRST = 5;
/** The number of reasons that are shown at first. */
const FEW = 4;
/** The number of copies of a version that are shown at first. */
const COPIES = 6;
/** The number of cards that are shown at first. */
const CARDS = 40;
/** The number of cards that one task makes. A large card takes ten milliseconds. */
const AT_ONCE = 6;

export function Duplicates(props: { tree: Tree }) {
  const { view } = useSession();
  const [most, setMost] = createSignal(CARDS);
  const [made, setMade] = createSignal(AT_ONCE);
  /** The size of all copies but the largest, which is the most that can be saved. */
  const spare = (copies: readonly number[]) => {
    const weights = copies.map((node) => bytesOf(props.tree, node));
    return weights.reduce((sum, weight) => sum + weight, 0) - Math.max(...weights);
  };
  const groups = createMemo(() => {
    const first = new Map(packagesOf(props.tree).map((node) => [packageName(props.tree.nodes[node]!), node]));
    const found = view.matches()?.nodes;
    return duplicatedNames(props.tree)
      .map((name) => ({ name, copies: copiesOf(props.tree, props.tree.nodes[first.get(name)!]!) }))
      .filter(({ copies }) => !found || copies.some((node) => found.has(node)))
      .sort(
        (a, b) => spare(b.copies) - spare(a.copies) || b.copies.length - a.copies.length || (a.name < b.name ? -1 : 1),
      );
  });
  createEffect(() => {
    if (made() >= Math.min(most(), groups().length)) return;
    const next = setTimeout(() => setMade((now) => now + AT_ONCE));
    onCleanup(() => clearTimeout(next));
  });
  return (
    <div class="duplicates">
      <Show
        when={groups().length > 0}
        fallback={
          <p class="view-empty">
            No package {view.query() ? 'that matches the filter ' : ''}is installed twice.{' '}
            <Show when={view.query() && view.matches()?.nodes.size}>
              <button
                type="button"
                class="link"
                onClick={() => {
                  view.find('');
                  focusView();
                }}
              >
                Show everything
              </button>
            </Show>
          </p>
        }
      >
        <p class="soft duplicates-words">
          {counted(groups().length, 'package is', 'packages are')} installed more than once
          <Show when={groups().reduce((sum, { copies }) => sum + spare(copies), 0)}>
            {(weight) => <>; the extra copies take {bytes(weight())}</>}
          </Show>
          .
        </p>
        <For each={groups().slice(0, Math.min(most(), made()))}>
          {(group) => <Card tree={props.tree} name={group.name} copies={group.copies} spare={spare(group.copies)} />}
        </For>
        <Show when={groups().length > most()}>
          <button type="button" class="button" onClick={() => setMost(Infinity)}>
            Show {count(groups().length - most())} more
          </button>
        </Show>
      </Show>
    </div>
  );
}

function Card(props: { tree: Tree; name: string; copies: readonly number[]; spare: number }) {
  const versions = createMemo(() => {
    const groups = new Map<string, number[]>();
    for (const node of props.copies) {
      const version = props.tree.nodes[node]!.version ?? '';
      groups.set(version, [...(groups.get(version) ?? []), node]);
    }
    return [...groups];
  });
  return (
    <article class="duplicate" aria-label={props.name}>
      <header class="duplicate-head">
        <h2 class="mono">{props.name}</h2>
        <span class="ochre">
          {counted(props.copies.length, 'copy', 'copies')}, {counted(versions().length, 'version')}
        </span>
        <Show when={props.spare > 0}>
          <span class="soft">{bytes(props.spare)} extra</span>
        </Show>
      </header>
      <For each={versions()}>
        {([version, nodes]) => (
          <div class="duplicate-version">
            <span class="mono duplicate-number">{version}</span>
            <Copies tree={props.tree} nodes={nodes} />
          </div>
        )}
      </For>
      <Reasons tree={props.tree} name={props.name} />
      <Tries
        offer="Try what would help"
        changes={({ text, settings }) => triesFor(props.tree, props.name, props.copies, text, settings)}
        judge={(tree) => verdict(outcomeOf(tree, props.name), outcomeOf(props.tree, props.name))}
      />
    </article>
  );
}

/** The places of a version's copies, and their dependents. */
function Copies(props: { tree: Tree; nodes: readonly number[] }) {
  const { view } = useSession();
  const [isAll, setAll] = createSignal(false);
  const node = (index: number) => props.tree.nodes[index]!;
  const shown = () => (isAll() || props.nodes.length <= COPIES + 1 ? props.nodes : props.nodes.slice(0, COPIES));
  return (
    <ul>
      <For each={shown()}>
        {(one) => (
          <li>
            <Sign node={one} />
            <button
              type="button"
              class="link"
              aria-current={view.selected() === node(one).location}
              onClick={() => view.choose(node(one).location)}
            >
              {place(node(one))}
            </button>{' '}
            <span class="soft">for </span>
            <Holders tree={props.tree} node={one} />
          </li>
        )}
      </For>
      <Show when={props.nodes.length > shown().length}>
        <li>
          <button type="button" class="link soft" onClick={() => setAll(true)}>
            and {count(props.nodes.length - shown().length)} more copies
          </button>
        </li>
      </Show>
    </ul>
  );
}

/** The reasons why copies cannot be shared. */
function Reasons(props: { tree: Tree; name: string }) {
  const [isAll, setAll] = createSignal(false);
  const all = createMemo(() => apart(props.tree, props.name));
  const shown = () => all().slice(0, isAll() ? undefined : FEW);
  const node = (index: number) => props.tree.nodes[index]!;
  return (
    <div class="duplicate-reasons soft">
      <h3>Why they can’t share</h3>
      <Show when={all().length > 0} fallback={<p>They are in different folders, and neither is above the other.</p>}>
        <ul>
          <For each={shown()}>
            {({ copy, above, refusing }) => (
              <li>
                <Show
                  when={refusing.length > 0}
                  fallback={
                    <>
                      Everything that uses the copy {place(node(copy))} could share {node(above!).version}{' '}
                      {place(node(above!))}. It has its own copy because another package was in that place at the time.
                    </>
                  }
                >
                  <For each={refusing.slice(0, FIRST)}>
                    {(edge, index) => (
                      <>
                        {index() > 0 ? ', ' : ''}
                        <span class="mono">{title(node(props.tree.edges[edge]!.from))}</span> asks for{' '}
                        <span class="mono">{props.tree.edges[edge]!.spec}</span>
                      </>
                    )}
                  </For>
                  <Show when={refusing.length > FIRST}> and {count(refusing.length - FIRST)} more do likewise</Show>
                  {`; the copy ${place(node(above!))} is `}
                  <span class="mono">{node(above!).version}</span>.
                </Show>
              </li>
            )}
          </For>
        </ul>
        <Show when={all().length > shown().length}>
          <button type="button" class="link" onClick={() => setAll(true)}>
            and {count(all().length - shown().length)} more
          </button>
        </Show>
      </Show>
    </div>
  );
}

function Holders(props: { tree: Tree; node: number }) {
  const edges = () => props.tree.into[props.node]!;
  return (
    <span class="mono duplicate-holders">
      <For each={edges().slice(0, FIRST)}>
        {(edge, index) => (
          <>
            {index() > 0 ? ', ' : ''}
            {title(props.tree.nodes[props.tree.edges[edge]!.from])}{' '}
            <span class="soft">{props.tree.edges[edge]!.spec}</span>
          </>
        )}
      </For>
      <Show when={edges().length > FIRST}>
        <span class="soft"> and {count(edges().length - FIRST)} more</span>
      </Show>
    </span>
  );
}

/** The results with the fewest copies come first, then those with the fewest packages. */
function verdict(after: Outcome, before: Outcome): Verdict {
  return {
    words: saving(after, before),
    isBetter: after.copies < before.copies,
    rank: (after.copies - before.copies) * 1e6 + after.packages - before.packages,
  };
}

function saving(after: Outcome, before: Outcome): string {
  if (after.copies >= before.copies) return `no fewer copies`;
  const packages = after.packages - before.packages;
  const weight = after.bytes === undefined || before.bytes === undefined ? 0 : after.bytes - before.bytes;
  const parts = [
    `${counted(after.copies, 'copy', 'copies')} left`,
    packages === 0 ? '' : `${signed(packages)} ${Math.abs(packages) === 1 ? 'package' : 'packages'}`,
    Math.abs(weight) > 500 ? `${weight < 0 ? '−' : '+'}${bytes(Math.abs(weight))}` : '',
  ];
  return parts.filter(Boolean).join(', ');
}

function signed(number: number): string {
  return number < 0 ? `−${count(-number)}` : `+${count(number)}`;
}
