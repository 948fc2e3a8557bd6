// The project as a whole: what its direct dependencies bring, and under which licenses.

import { createMemo, For, Show } from 'solid-js';
import { count, counted } from '../../model/format';
import { licenses } from '../../model/summary';
import { answer, packagesOf, type Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { title } from '../words';

const MOST = 8;

export function ProjectCard(props: { tree: Tree }) {
  const { run, view } = useSession();
  const root = () => props.tree.nodes[0]!;
  const heaviest = createMemo(() =>
    props.tree.out[0]!
      .map((edge) => answer(props.tree, edge))
      .filter((node) => node > 0)
      .sort((a, b) => props.tree.below[b]! - props.tree.below[a]!)
      .slice(0, MOST),
  );
  const brings = (node: number) => props.tree.below[node]! + 1;
  return (
    <article class="card">
      <header>
        <p class="card-name mono">{title(root())}</p>
        <p class="card-facts">
          <span class="mono">{root().version}</span>
          <span>{counted(props.tree.out[0]!.length, 'direct dependency', 'direct dependencies')}</span>
        </p>
      </header>
      <Show when={heaviest().length > 0}>
        <section>
          <h2>What they bring</h2>
          <ul class="bars">
            <For each={heaviest()}>
              {(node) => (
                <li>
                  <button class="link mono" onClick={() => view.reveal(props.tree.nodes[node]!.location)}>
                    {props.tree.nodes[node]!.name}
                  </button>
                  <span>{count(brings(node))}</span>
                  <i style={{ width: `${(brings(node) / brings(heaviest()[0]!)) * 100}%` }} />
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
      <Show when={run.phase() === 'done' && packagesOf(props.tree).length > 0}>
        <section>
          <h2>Licenses</h2>
          <ul class="bars">
            <For each={licenses(props.tree).slice(0, MOST)}>
              {([license, number]) => (
                <li>
                  <button class="link" onClick={() => view.find(`license:${license.toLowerCase().replaceAll(' ', '-')}`)}>
                    {license}
                  </button>
                  <span>{count(number)}</span>
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
    </article>
  );
}
