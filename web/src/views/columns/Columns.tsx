// The head of a table: its headings, the column edges to drag, and the list that chooses columns
// and their widths.

import { createUniqueId, For, Show, type JSX } from 'solid-js';
import { LEAST_WIDTH, MOST_WIDTH, type Columns, type ColumnSpec } from '../../state/columns';
import './columns.css';

export type Sorted = 'ascending' | 'descending' | 'none';

/** The headings of a table. The first one contains the buttons. */
export function ColumnHeads<Spec extends ColumnSpec>(props: {
  columns: Columns<Spec>;
  /** The class of a row, and of a column's cell. */
  row: string;
  cell: (column: Spec) => string;
  /** Undefined for a column that cannot sort the table. */
  sorted?: (column: Spec) => Sorted | undefined;
  buttons?: JSX.Element;
  children: (column: Spec) => JSX.Element;
}) {
  return (
    <div role="rowgroup" class="tree-head">
      <div role="row" aria-rowindex="1" class={props.row}>
        <For each={props.columns.shown()}>
          {(column, index) => (
            <div
              role="columnheader"
              class={props.cell(column)}
              aria-colindex={index() + 1}
              aria-sort={props.sorted?.(column)}
              title={props.sorted?.(column) ? undefined : column.about}
            >
              {props.children(column)}
              <Show when={index() === 0}>
                <span class="head-buttons">
                  {props.buttons}
                  <ColumnList columns={props.columns} />
                </span>
              </Show>
              <ColumnEdge columns={props.columns} name={column.name} />
            </div>
          )}
        </For>
      </div>
    </div>
  );
}

/** The heading of a column that sorts the table. */
export function SortButton(props: { column: ColumnSpec; sorted: Sorted; onClick: () => void }) {
  return (
    <button type="button" class="plain sort" title={props.column.about} onClick={() => props.onClick()}>
      {props.column.words}
      <span aria-hidden="true">{{ ascending: ' ↑', descending: ' ↓', none: '' }[props.sorted]}</span>
    </button>
  );
}

/** The right edge of a column, which resizes it. The list of columns does the same with keys. */
function ColumnEdge(props: { columns: Pick<Columns, 'resize'>; name: string }) {
  let edge!: HTMLSpanElement;
  const onPointerDown = (event: PointerEvent) => {
    event.preventDefault();
    event.stopPropagation();
    edge.setPointerCapture(event.pointerId);
    const [from, before] = [event.clientX, edge.parentElement!.getBoundingClientRect().width];
    edge.onpointermove = (move) => props.columns.resize(props.name, before + move.clientX - from);
    // This also happens if the browser takes the pointer over to scroll.
    edge.onlostpointercapture = () => {
      edge.onpointermove = null;
    };
  };
  return (
    <span
      ref={edge}
      class="column-edge"
      aria-hidden="true"
      onPointerDown={onPointerDown}
      onClick={(event) => event.stopPropagation()}
    />
  );
}

/** The list of columns and the button that opens it. */
function ColumnList(props: { columns: Omit<Columns, 'shown'> }) {
  const id = createUniqueId();
  let button!: HTMLButtonElement;
  let list!: HTMLDivElement;
  const place = () => {
    const box = button.getBoundingClientRect();
    list.style.top = `${box.bottom + 4}px`;
    list.style.right = `${Math.max(8, window.innerWidth - box.right)}px`;
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="plain column-button"
        aria-label="Columns"
        title="Choose columns and their widths"
        popovertarget={id}
        onClick={place}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M2 3.5h12v9H2zM6 3.5v9M10 3.5v9" />
        </svg>
      </button>
      <div ref={list} id={id} popover class="column-list" role="group" aria-label="Columns">
        <For each={props.columns.specs}>
          {(spec, index) => (
            <div class="column-choice">
              <label>
                <input
                  type="checkbox"
                  checked={!props.columns.isHidden(spec.name)}
                  disabled={index() === 0}
                  onChange={() => props.columns.toggle(spec.name)}
                />
                {spec.words}
              </label>
              <input
                type="range"
                aria-label={`Width of ${spec.words}`}
                min={LEAST_WIDTH}
                max={MOST_WIDTH}
                step="4"
                value={props.columns.widthOf(spec)}
                onInput={(event) => props.columns.resize(spec.name, event.currentTarget.valueAsNumber)}
              />
            </div>
          )}
        </For>
        <Show when={!props.columns.isUsual()}>
          <button
            type="button"
            class="link"
            onClick={() => {
              props.columns.reset();
              // This button disappears, and the focus would be lost with it.
              button.focus();
            }}
          >
            Reset columns
          </button>
        </Show>
      </div>
    </>
  );
}
