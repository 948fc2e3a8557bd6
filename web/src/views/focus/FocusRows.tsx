// The focus graph in narrow windows: the paths from the project come down a wire to the package,
// and its dependencies are below it.

import { For, type JSX, Show } from 'solid-js';
import type { Column } from '../../model/focus';

/** The ranges between the package and a neighbour. */
interface Range {
  readonly words: string;
  readonly isBad: boolean;
}

export function FocusRows(props: {
  columns: readonly Column[];
  node: number;
  ranges: ReadonlyMap<number, Range>;
  box: (node: number) => JSX.Element;
  more: (column: Column) => JSX.Element;
}) {
  const middle = () => props.columns.findIndex(({ nodes }) => nodes.includes(props.node));
  const words = (index: number) =>
    index === middle() - 1 ? 'Asked for by' : index === middle() + 1 ? 'Asks for' : 'On the way from the project';
  return (
    <div class="focus-rows">
      <For each={props.columns}>
        {(column, index) => (
          <>
            <Show when={index() !== middle() && (index() === 0 || index() >= middle() - 1)}>
              <p class="soft focus-head">{words(index())}</p>
            </Show>
            <ul class="focus-step" classList={{ here: index() === middle(), after: index() > middle() }}>
              <For each={column.nodes}>
                {(one) => (
                  <li>
                    {props.box(one)}
                    <Show when={props.ranges.get(one)}>
                      {(range) => (
                        <span class="focus-range mono" classList={{ rust: range().isBad }} title={range().words}>
                          {range().words}
                        </span>
                      )}
                    </Show>
                  </li>
                )}
              </For>
              <Show when={column.more > 0}>
                <li>{props.more(column)}</li>
              </Show>
            </ul>
          </>
        )}
      </For>
    </div>
  );
}
