// The tree as a treegrid. The grid keeps the focus and points at the active row, which may be redrawn at any
// time while the tree grows.

import { createEffect, createMemo, Index, on } from 'solid-js';
import { counted } from '../../model/format';
import { nameWords } from '../../model/search';
import { useSession } from '../../state/session';
import { createTreeKeys } from './keys';
import { TreeRow } from './TreeRow';
import { createWindow } from './window';
import { trainedWires } from './Wires';
import './tree.css';

const COLUMNS = ['Package', 'Version', 'Wanted', 'Kind', 'Below', 'Notes'];
const HEADER = 32;

export function TreeGrid() {
  const { view, run } = useSession();
  let grid!: HTMLDivElement;
  const window = createWindow(view.rows, view.activeIndex, () => grid, HEADER);
  const onKeyDown = createTreeKeys(view, run.tree, window.page);
  const trained = createMemo(() => trainedWires(view.rows(), view.activeIndex()));
  const words = createMemo(() => nameWords(view.query()));

  createEffect(on(view.active, () => view.activeIndex() >= 0 && window.bringIntoView(view.activeIndex()), { defer: true }));

  return (
    <div
      ref={grid}
      class="treegrid"
      role="treegrid"
      tabindex="0"
      aria-label={`Dependencies, ${counted(view.rows().length, 'row')}`}
      aria-rowcount={view.rows().length + 1}
      aria-colcount={COLUMNS.length}
      aria-activedescendant={view.activeIndex() >= 0 ? `row-${view.activeIndex()}` : undefined}
      aria-busy={run.phase() === 'resolving'}
      onScroll={window.onScroll}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" class="tree-head">
        <div role="row" aria-rowindex="1" class="tree-row">
          <Index each={COLUMNS}>
            {(name, index) => (
              <div role="columnheader" aria-colindex={index + 1}>
                {name()}
              </div>
            )}
          </Index>
        </div>
      </div>
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
            />
          )}
        </Index>
      </div>
    </div>
  );
}
