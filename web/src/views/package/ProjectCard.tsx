// The card of the project: the packages that each direct dependency brings, and the licenses.

import { createMemo, For, Show } from 'solid-js';
import { analyze } from '../../model/analysis';
import { bytes, count, counted } from '../../model/format';
import { licenses } from '../../model/summary';
import { answer, packagesOf, type Tree } from '../../model/tree';
import { whenIdle } from '../../state/idle';
import { useSession } from '../../state/session';
import { title } from '../words';

const MOST = 8;

export function ProjectCard(props: { tree: Tree }) {
  const { run, view } = useSession();
  const root = () => props.tree.nodes[0]!;
  const brings = (node: number) => analyze(props.tree).only[node]!;
  const rested = whenIdle(() => props.tree);
  const heaviest = createMemo(() =>
    (rested() === props.tree ? props.tree.out[0]! : [])
      .map((edge) => answer(props.tree, edge))
      .filter((node) => node > 0)
      .sort((a, b) => brings(b) - brings(a))
      .slice(0, MOST),
  );
  return (
    <article class="card">
      <header>
        <p class="card-name mono">{title(root())}</p>
        <p class="card-facts">
          <span class="mono">{root().version}</span>
          <Show when={run.result()}>
            <span>{counted(props.tree.out[0]!.length, 'direct dependency', 'direct dependencies')}</span>
          </Show>
        </p>
      </header>
      <Show when={heaviest().length > 0}>
        <section>
          <h2>Packages by dependency</h2>
          <ul class="bars">
            <For each={heaviest()}>
              {(node) => (
                <li>
                  <button type="button" class="link mono" onClick={() => view.reveal(props.tree.nodes[node]!.location)}>
                    {props.tree.nodes[node]!.name}
                  </button>
                  <span class="soft">
                    {count(brings(node))}
                    <Show when={analyze(props.tree).onlyBytes[node]! > 0}>
                      , {bytes(analyze(props.tree).onlyBytes[node]!)}
                    </Show>
                  </span>
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
                  <button
                    type="button"
                    class="link"
                    onClick={() => view.find(`license:${license.toLowerCase().replaceAll(' ', '-')}`)}
                  >
                    {license}
                  </button>
                  <span class="soft">{count(number)}</span>
                  <i style={{ width: `${(number / licenses(props.tree)[0]![1]) * 100}%` }} />
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
    </article>
  );
}
