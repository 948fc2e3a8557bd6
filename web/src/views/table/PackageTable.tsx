// A table of all packages, sorted by any column.

import { createEffect, createMemo, createSignal, For, Index, on, Show } from 'solid-js';
import { analyze, bytesOf } from '../../model/analysis';
import { bytes, count, counted } from '../../model/format';
import { packagesOf, type Tree } from '../../model/tree';
import { createColumns, type ColumnSpec } from '../../state/columns';
import { useSession } from '../../state/session';
import { ColumnHeads, SortButton } from '../columns/Columns';
import { createWindow } from '../tree/window';
import { Sign } from '../Sign';
import { title } from '../words';
import './table.css';

const HEADER = 32;

interface Column extends ColumnSpec {
  readonly isNumber: boolean;
  value(tree: Tree, node: number): number | string;
  text(tree: Tree, node: number): string;
}

const size = (known: number | undefined) => (known === undefined ? '–' : bytes(known));

const COLUMNS: readonly Column[] = [
  {
    name: 'name',
    width: 160,
    words: 'Package',
    about: 'The name of its folder',
    isNumber: false,
    value: (tree, node) => title(tree.nodes[node]),
    text: (tree, node) => title(tree.nodes[node]),
  },
  {
    name: 'version',
    width: 96,
    tight: 68,
    words: 'Version',
    about: 'The installed version',
    isNumber: false,
    value: (tree, node) => tree.nodes[node]!.version ?? '',
    text: (tree, node) => tree.nodes[node]!.version ?? '',
  },
  {
    name: 'size',
    width: 80,
    tight: 62,
    words: 'Size',
    about: 'The size of its own files, unpacked',
    isNumber: true,
    value: (tree, node) => bytesOf(tree, node),
    text: (tree, node) => (tree.nodes[node]!.inert ? '–' : size(tree.nodes[node]!.unpackedSize)),
  },
  {
    name: 'files',
    width: 64,
    from: 760,
    words: 'Files',
    about: 'The number of its files',
    isNumber: true,
    value: (tree, node) => tree.nodes[node]!.fileCount ?? 0,
    text: (tree, node) => (tree.nodes[node]!.fileCount === undefined ? '–' : count(tree.nodes[node]!.fileCount!)),
  },
  {
    name: 'saves',
    width: 80,
    tight: 62,
    words: 'Frees',
    about: 'The size of everything that would go with it, including itself',
    isNumber: true,
    value: (tree, node) => analyze(tree).onlyBytes[node]!,
    text: (tree, node) => (analyze(tree).onlyBytes[node]! > 0 ? bytes(analyze(tree).onlyBytes[node]!) : '–'),
  },
  {
    name: 'only',
    width: 60,
    from: 480,
    words: 'Only',
    about: 'The number of packages that would go with it, including itself',
    isNumber: true,
    value: (tree, node) => analyze(tree).only[node]!,
    text: (tree, node) => count(analyze(tree).only[node]!),
  },
  {
    name: 'by',
    width: 88,
    from: 480,
    words: 'Wanted by',
    about: 'The number of its dependents',
    isNumber: true,
    value: (tree, node) => tree.into[node]!.length,
    text: (tree, node) => count(tree.into[node]!.length),
  },
  {
    name: 'license',
    width: 128,
    from: 760,
    words: 'License',
    about: 'The license that the package states',
    isNumber: false,
    value: (tree, node) => tree.nodes[node]!.license ?? '',
    text: (tree, node) => tree.nodes[node]!.license ?? '–',
  },
];

export function PackageTable(props: { tree: Tree }) {
  const { view } = useSession();
  /** Some registries and lockfiles give no sizes. */
  const isSized = createMemo(() => props.tree.nodes.some(({ unpackedSize }) => unpackedSize !== undefined));
  const [chosen, setChosen] = createSignal<{ column: string; descending: boolean } | undefined>();
  const by = () => chosen() ?? { column: isSized() ? 'size' : 'only', descending: true };
  let grid!: HTMLDivElement;

  const sorted = createMemo(() => {
    const { tree } = props;
    const column = COLUMNS.find(({ name }) => name === by().column)!;
    const found = view.matches()?.nodes;
    const nodes = packagesOf(tree).filter((node) => !found || found.has(node));
    const direction = by().descending ? -1 : 1;
    const values = new Map(nodes.map((node) => [node, column.value(tree, node)]));
    return nodes.sort(
      (a, b) =>
        direction * compare(values.get(a)!, values.get(b)!) || compare(title(tree.nodes[a]), title(tree.nodes[b])),
    );
  });
  const rows = createMemo(() => sorted().map((node) => ({ key: props.tree.nodes[node]!.location, node })));
  const activeIndex = createMemo(() => rows().findIndex(({ key }) => key === view.selected()));
  const window = createWindow(rows, activeIndex, () => grid, HEADER);
  const isEmpty = ({ name }: Column) => ['size', 'files', 'saves'].includes(name) && !isSized();
  const columns = createColumns('table', COLUMNS, window.width, isEmpty);
  createEffect(on(activeIndex, (index) => index >= 0 && window.bringIntoView(index)));

  const order = ({ name }: Column) => (by().column !== name ? 'none' : by().descending ? 'descending' : 'ascending');
  const sort = (column: Column) =>
    setChosen({
      column: column.name,
      descending: by().column === column.name ? !by().descending : column.isNumber,
    });
  const choose = (index: number) => {
    const row = rows()[Math.max(0, Math.min(index, rows().length - 1))];
    if (row) view.choose(row.key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== grid) return;
    const at = Math.max(-1, activeIndex());
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + window.page(),
      PageUp: at - window.page(),
      Home: 0,
      End: Infinity,
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    choose(steps[event.key]!);
  };
  return (
    <div
      ref={grid}
      class="table"
      role="grid"
      tabindex="0"
      aria-label={counted(rows().length, 'package')}
      aria-rowcount={rows().length + 1}
      aria-activedescendant={activeIndex() >= 0 ? `package-${activeIndex()}` : undefined}
      style={{ '--columns': columns.template(), '--least': `${columns.least() + 32}px` }}
      onScroll={window.onScroll}
      onKeyDown={onKeyDown}
    >
      <ColumnHeads columns={columns} row="table-row" cell={(column) => cellClass(column, -1)} sorted={order}>
        {(column) => <SortButton column={column} sorted={order(column)} onClick={() => sort(column)} />}
      </ColumnHeads>
      <div role="rowgroup" class="tree-body" style={{ height: `${rows().length * window.rowHeight()}px` }}>
        <Index each={window.drawn()}>
          {(drawn) => (
            <div
              role="row"
              id={`package-${drawn().index}`}
              class="table-row"
              classList={{ active: drawn().index === activeIndex(), dev: props.tree.nodes[drawn().row.node]!.dev }}
              style={{ transform: `translateY(${drawn().index * window.rowHeight()}px)` }}
              aria-rowindex={drawn().index + 2}
              aria-selected={drawn().index === activeIndex()}
              onClick={(event) => {
                choose(drawn().index);
                event.currentTarget.dispatchEvent(new CustomEvent('show-package', { bubbles: true }));
              }}
            >
              <For each={columns.shown()}>
                {(column, index) => (
                  <div role="gridcell" class={cellClass(column, index())}>
                    <Show when={index() === 0}>
                      <Sign node={drawn().row.node} />
                    </Show>
                    {column.text(props.tree, drawn().row.node)}
                  </div>
                )}
              </For>
            </div>
          )}
        </Index>
      </div>
    </div>
  );
}

function cellClass({ name, isNumber }: Column, index: number): string {
  return `col-${name}${isNumber ? ' number' : ''}${index === 0 || name === 'version' ? ' mono' : ''}${index === 0 ? ' name' : ''}`;
}

const collator = new Intl.Collator('en', { numeric: true });

function compare(a: number | string, b: number | string): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
}
