// The effect of an edit, another lockfile or another date: the numbers of added, removed and
// changed packages, and a table of them.

import { createMemo, For, Show } from 'solid-js';
import { isIdentical } from '../../model/compare';
import { isEmpty, type Diff } from '../../model/diff';
import { count, counted } from '../../model/format';
import { packagesOf } from '../../model/tree';
import { useSession } from '../../state/session';

const MOST = 200;

export function Changes() {
  const { changes, baseline, reference, run, pinned, stopComparing, pin, beside, closeBeside } = useSession();
  const identical = createMemo(() => {
    const [before, after] = [reference(), run.result()?.lockfile];
    return before !== undefined && after !== undefined && !pinned() && isIdentical(before, after);
  });
  return (
    <Show when={run.phase() !== 'failed' && changes()}>
      {(diff) => (
        <div class="changes">
          <Show
            when={!isEmpty(diff())}
            fallback={
              <span>
                {identical()
                  ? `Byte-for-byte identical to ${baseline()!.name}.`
                  : `The same packages as in ${baseline()!.name}.`}
              </span>
            }
          >
            <details>
              <summary>
                <Effect sign="+" tone="green" number={diff().added} words="added" />
                <Effect sign="−" tone="rust" number={diff().removed.length} words="removed" />
                <Effect sign="~" tone="ochre" number={diff().changed} words="changed" />
                <span class="soft">compared with {baseline()!.name}</span>
              </summary>
              <ChangeList diff={diff()} />
            </details>
          </Show>
          <Show
            when={pinned() || reference() !== undefined || beside()}
            fallback={
              <button type="button" class="link soft" onClick={pin} title="Compare later trees with the present one">
                Pin this tree
              </button>
            }
          >
            <button type="button" class="link soft" onClick={() => (beside() ? closeBeside() : stopComparing())}>
              Stop comparing
            </button>
          </Show>
        </div>
      )}
    </Show>
  );
}

/** The number of packages with one kind of change, with the sign that marks them in the views. */
function Effect(props: { sign: string; tone: string; number: number; words: string }) {
  return (
    <Show when={props.number > 0}>
      <span class={props.tone}>
        {props.sign}
        {count(props.number)} {props.words}
      </span>
      {', '}
    </Show>
  );
}

function ChangeList(props: { diff: Diff }) {
  const { run, view, baseline, beside } = useSession();
  const left = () => Math.max(0, props.diff.marks.size - MOST) + Math.max(0, props.diff.removed.length - MOST);
  const present = () => [...props.diff.marks].slice(0, MOST);
  const node = (index: number) => run.tree()!.nodes[index]!;
  const short = (location: string) =>
    location.replaceAll('node_modules/', '› ').replace(/^› /, '').replaceAll('/›', ' ›');
  return (
    <table class="differences">
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">Package</span>
          </th>
          <th scope="col">
            {baseline()!.name} <span class="soft">{count(baseline()!.packages.size)}</span>
          </th>
          <th scope="col">
            {beside() ? 'A' : 'now'} <span class="soft">{count(packagesOf(run.tree()!).length)}</span>
          </th>
        </tr>
      </thead>
      <tbody class="mono">
        <For each={present()}>
          {([index, mark]) => (
            <tr>
              <td>
                <span class={mark === 'added' ? 'green' : 'ochre'}>{mark === 'added' ? '+' : '~'}</span>{' '}
                <button type="button" class="link" onClick={() => view.choose(node(index).location)}>
                  {short(node(index).location)}
                </button>
              </td>
              <td class="soft">{props.diff.before.get(node(index).location) ?? '–'}</td>
              <td>{node(index).version}</td>
            </tr>
          )}
        </For>
        <For each={props.diff.removed.slice(0, MOST)}>
          {({ location, version }) => (
            <tr>
              <td>
                <span class="rust">−</span> <s>{short(location)}</s>
              </td>
              <td class="soft">{version}</td>
              <td>–</td>
            </tr>
          )}
        </For>
      </tbody>
      <Show when={left() > 0}>
        <tfoot>
          <tr>
            <td colspan="3" class="soft">
              and {counted(left(), 'more change')}
            </td>
          </tr>
        </tfoot>
      </Show>
    </table>
  );
}
