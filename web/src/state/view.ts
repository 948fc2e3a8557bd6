// The state of the tree's view: open rows, the active row, the search, and the jumps to return
// from.

import { batch, createMemo, createSignal } from 'solid-js';
import type { Facts } from '../model/facts';
import { parentRow, ROOT_KEY, rowKey, rowsOf, type Order, type Row } from '../model/rows';
import { search, stateCounts } from '../model/search';
import { answer, path, type Tree } from '../model/tree';
import { whenIdle } from './idle';
import { FIRST_VIEW, type ViewName } from '../model/views';

/** Initially, rows down to this level are shown. */
const OPEN_LEVELS = 2;

type Toggled = ReadonlyMap<string, boolean>;

export type View = ReturnType<typeof createView>;

/** `finished` is the tree on screen, once it is complete. */
export function createView(tree: () => Tree | undefined, finished: () => Tree | undefined, facts: () => Facts) {
  const [name, setName] = createSignal<ViewName>(FIRST_VIEW);
  const [query, setQuery] = createSignal('');
  const [toggled, setToggled] = createSignal<Toggled>(new Map());
  // A search opens its matches. Rows that are closed in it stay closed only for that search.
  const [toggledInSearch, setToggledInSearch] = createSignal<Toggled>(new Map());
  const [active, setActive] = createSignal(ROOT_KEY);
  const [order, setOrder] = createSignal<Order | undefined>();
  const [selected, setSelected] = createSignal<string | undefined>();
  const jumps: string[] = [];

  const matches = createMemo(() => {
    const current = tree();
    return current && search(current, query(), facts());
  });
  /** The number of packages that each filter finds, counted in idle time. */
  const rested = whenIdle(finished);
  const counts = createMemo(() => (rested() ? stateCounts(rested()!) : new Map<string, number>()));
  const isOpen = (location: string, level: number) =>
    matches() ? (toggledInSearch().get(location) ?? true) : (toggled().get(location) ?? level <= OPEN_LEVELS);
  const setOpen = (locations: Iterable<string>, open: boolean) => {
    const set = matches() ? setToggledInSearch : setToggled;
    set((map) => new Map([...map, ...[...locations].map((location) => [location, open] as const)]));
  };
  const rows = createMemo<Row[]>(() => {
    const current = tree();
    return current ? rowsOf(current, { isOpen, kept: matches()?.kept, order: order() }) : [];
  });
  const activeIndex = createMemo(() => rows().findIndex((row) => row.key === active()));

  /** Where a package is selected that the complete tree does not have, such as after an edit. */
  const missing = createMemo(() => {
    const [current, location] = [finished(), selected()];
    return current && location && !current.at.has(location) ? location : undefined;
  });

  const locationOf = (row: Row): string | undefined => tree()?.nodes[row.node]?.location;
  const toggle = (row: Row, open: boolean) => {
    const location = locationOf(row);
    if (location !== undefined && row.open !== undefined) setOpen([location], open);
  };
  const activate = (index: number) => {
    const row = rows()[Math.max(0, Math.min(index, rows().length - 1))];
    if (!row) return;
    batch(() => {
      setActive(row.key);
      setSelected(locationOf(row));
    });
  };
  const find = (next: string) => {
    batch(() => {
      setQuery(next);
      setToggledInSearch(new Map());
    });
  };
  /** Goes to the row of an edge: opens the rows above it, and ends a search that hides it. */
  const show = (edge: number) => {
    const current = tree();
    if (!current) return;
    const from = edge === -1 ? 0 : current.edges[edge]!.from;
    const to = edge === -1 ? 0 : answer(current, edge);
    const isHidden = matches()?.kept.has(to) === false || (matches() && current.home[to] !== edge);
    batch(() => {
      if (isHidden) find('');
      const above = path(current, from).map((step) => answer(current, step));
      setOpen(
        [0, ...above].map((node) => current.nodes[node]!.location),
        true,
      );
      setActive(rowKey(current, edge));
      setSelected(current.nodes[to]?.location);
    });
  };

  return {
    /** The view on screen. */
    name,
    open: setName,
    query,
    find,
    /** How the rows of the tree are sorted. */
    order,
    setOrder,
    matches,
    counts,
    rows,
    active,
    activeIndex,
    selected,
    missing,
    toggle,
    activate,
    show,
    /** Goes to the row of a package. */
    reveal(location: string) {
      const node = tree()?.at.get(location);
      if (node !== undefined) show(tree()!.home[node]!);
    },
    /** Goes from a "deduped" row to the row of the package. `back` returns. */
    jump(row: Row) {
      jumps.push(row.key);
      show(tree()!.home[row.node]!);
    },
    /** Returns from the last jump. False if there is none. */
    back(): boolean {
      const key = jumps.pop();
      const current = tree();
      const edge =
        key === undefined || !current ? -1 : current.edges.findIndex((_, index) => rowKey(current, index) === key);
      if (edge === -1) return false;
      show(edge);
      return true;
    },
    /** Opens a row and its siblings. */
    openBeside(row: Row) {
      const current = tree();
      if (!current || row.edge === -1) return;
      const beside = current.out[current.edges[row.edge]!.from]!.filter(
        (edge) => current.home[answer(current, edge)] === edge,
      );
      setOpen(
        beside.map((edge) => current.nodes[answer(current, edge)]!.location),
        true,
      );
    },
    /** Goes to the dependent of the active row. */
    activateParent: () => activate(parentRow(rows(), activeIndex())),
    /** Selects a package in all views. The tree's active row follows. */
    choose(location: string) {
      const node = tree()?.at.get(location);
      if (node === undefined) return;
      // A hidden row is opened when the tree is shown.
      const row = rows().find((candidate) => candidate.node === node && !candidate.deduped);
      batch(() => {
        setSelected(location);
        if (row) setActive(row.key);
        else if (tree()!.home[node] !== -1) show(tree()!.home[node]!);
      });
    },
    /** Clears the selection, which shows the project. */
    deselect() {
      batch(() => {
        setSelected(undefined);
        setActive(ROOT_KEY);
      });
    },
    /** Takes over the address, before there is a tree. */
    select: setSelected,
    /** Opens or closes everything below the root. */
    setAllOpen(open: boolean) {
      const current = tree();
      if (current)
        setOpen(
          current.nodes.slice(1).map((node) => node.location),
          open,
        );
    },
    /** Resets everything for another project. */
    reset() {
      jumps.length = 0;
      batch(() => {
        find('');
        setToggled(new Map());
        setActive(ROOT_KEY);
        setSelected(undefined);
      });
    },
  };
}
