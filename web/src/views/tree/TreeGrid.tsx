// The tree as a treegrid. The grid keeps the focus and points at the active row, which may be
// redrawn at any time while the tree grows.

import { createEffect, createMemo, Index, on, Show } from 'solid-js';
import { counted } from '../../model/format';
import type { Order } from '../../model/rows';
import { nameWords } from '../../model/search';
import { createColumns } from '../../state/columns';
import { useSession } from '../../state/session';
import { ColumnHeads, SortButton, type Sorted } from '../columns/Columns';
import { COLUMNS, FIRST, type ColumnName, type TreeColumn } from './columns';
import { createTreeKeys } from './keys';
import { TreeRow } from './TreeRow';
import { createWindow } from './window';
import { trainedWires } from './Wires';
import './tree.css';

const HEADER = 32;

export function TreeGrid() {
  const { view, run } = useSession();
  let grid!: HTMLDivElement;
  const window = createWindow(view.rows, view.activeIndex, () => grid, HEADER);
  const columns = createColumns<TreeColumn>('tree', COLUMNS, window.width);
  const shown = createMemo<readonly ColumnName[]>(() => columns.shown().map(({ name }) => name));
  const onTreeKey = createTreeKeys(view, run.tree, window.page);
  /** Elements of the head have their own keys. */
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target as HTMLElement).closest('.tree-head')) onTreeKey(event);
  };
  const trained = createMemo(() => trainedWires(view.rows(), view.activeIndex()));
  const words = createMemo(() => nameWords(view.query()));

  const sorted = ({ name }: TreeColumn): Sorted | undefined => {
    const order = view.order();
    if (!FIRST[name]) return undefined;
    return order?.by !== name ? 'none' : order.descending ? 'descending' : 'ascending';
  };
  /** Cycles through both directions and npm's order. */
  const sort = (first: Order) => {
    const { by, descending } = view.order() ?? {};
    if (by !== first.by) view.setOrder(first);
    else view.setOrder(descending === first.descending ? { ...first, descending: !descending } : undefined);
  };
  createEffect(
    on(view.active, () => view.activeIndex() >= 0 && window.bringIntoView(view.activeIndex()), { defer: true }),
  );

  return (
    <div
      ref={grid}
      class="treegrid"
      role="treegrid"
      tabindex="0"
      aria-label={`Dependencies, ${counted(view.rows().length, 'row')}`}
      aria-rowcount={view.rows().length + 1}
      aria-colcount={columns.shown().length}
      style={{ '--columns': columns.template(), '--least': `${columns.least()}px` }}
      aria-activedescendant={view.activeIndex() >= 0 ? `row-${view.activeIndex()}` : undefined}
      aria-busy={run.phase() === 'resolving'}
      onScroll={window.onScroll}
      onKeyDown={onKeyDown}
    >
      <ColumnHeads
        columns={columns}
        row="tree-row"
        cell={({ name }) => `head-${name}`}
        sorted={sorted}
        buttons={
          <>
            <HeadButton words="Open all" path="m4 3 4 4 4-4M4 9l4 4 4-4" onClick={() => view.setAllOpen(true)} />
            <HeadButton words="Close all" path="m3 4 4 4-4 4M9 4l4 4-4 4" onClick={() => view.setAllOpen(false)} />
          </>
        }
      >
        {(column) => (
          <Show when={FIRST[column.name]} fallback={column.words}>
            {(first) => <SortButton column={column} sorted={sorted(column) ?? 'none'} onClick={() => sort(first())} />}
          </Show>
        )}
      </ColumnHeads>
      <div role="rowgroup" class="tree-body" style={{ height: `${view.rows().length * window.rowHeight()}px` }}>
        <Index each={window.drawn()}>
          {(drawn) => (
            <TreeRow
              row={drawn().row}
              index={drawn().index}
              height={window.rowHeight()}
              isActive={drawn().index === view.activeIndex()}
              isMatch={view.matches()?.nodes.has(drawn().row.node) !== false}
              trained={trained().get(drawn().index)}
              words={words()}
              columns={shown()}
              notesByName={!shown().includes('notes') && !columns.isHidden('notes')}
            />
          )}
        </Index>
      </div>
    </div>
  );
}

function HeadButton(props: { words: string; path: string; onClick: () => void }) {
  return (
    <button
      type="button"
      class="plain head-button"
      aria-label={props.words}
      title={props.words}
      onClick={props.onClick}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={props.path} />
      </svg>
    </button>
  );
}
