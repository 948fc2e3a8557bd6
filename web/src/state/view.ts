// Where a person is in the tree: what is open, which row is active, what is searched for, and the way back.

import { batch, createMemo, createSignal } from 'solid-js';
import type { Facts } from '../model/facts';
import { parentRow, ROOT_KEY, rowKey, rowsOf, type Order, type Row } from '../model/rows';
import { search, stateCounts } from '../model/search';
import { answer, path, type Tree } from '../model/tree';
import { whenIdle } from './idle';
import { FIRST_VIEW, type ViewName } from '../model/views';

/** The root, its dependencies and theirs are there from the beginning. */
const OPEN_LEVELS = 2;

type Toggled = ReadonlyMap<string, boolean>;

export type View = ReturnType<typeof createView>;

/** The finished tree is the one on screen, once that grows no more. */
export function createView(tree: () => Tree | undefined, finished: () => Tree | undefined, facts: () => Facts) {
  const [name, setName] = createSignal<ViewName>(FIRST_VIEW);
  const [query, setQuery] = createSignal('');
  const [toggled, setToggled] = createSignal<Toggled>(new Map());
  // A search opens what it finds; what a person closes in it is not meant for the next one.
  const [toggledInSearch, setToggledInSearch] = createSignal<Toggled>(new Map());
  const [active, setActive] = createSignal(ROOT_KEY);
  const [order, setOrder] = createSignal<Order | undefined>();
  const [selected, setSelected] = createSignal<string | undefined>();
  const jumps: string[] = [];

  const matches = createMemo(() => {
    const current = tree();
    return current && search(current, query(), facts());
  });
  /** How many packages each filter finds, for those that would find none; counted when there is time. */
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
  /** Goes to the row of an edge, opening what it lies under, and leaving a search that hides it. */
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
    /** Which of the views is on screen. */
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
    toggle,
    activate,
    show,
    /** Goes to the row on which a package stands. */
    reveal(location: string) {
      const node = tree()?.at.get(location);
      if (node !== undefined) show(tree()!.home[node]!);
    },
    /** From a "deduped" row to where the package stands; `back` returns. */
    jump(row: Row) {
      jumps.push(row.key);
      show(tree()!.home[row.node]!);
    },
    /** Returns from the last jump; false when there was none. */
    back(): boolean {
      const key = jumps.pop();
      const current = tree();
      const edge =
        key === undefined || !current ? -1 : current.edges.findIndex((_, index) => rowKey(current, index) === key);
      if (edge === -1) return false;
      show(edge);
      return true;
    },
    /** Opens a row and those beside it. */
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
    /** To the package that asked for the active row. */
    activateParent: () => activate(parentRow(rows(), activeIndex())),
    /** Selects a package wherever it is shown; the tree's active row follows. */
    choose(location: string) {
      const node = tree()?.at.get(location);
      if (node === undefined) return;
      // A row that is closed away is opened when the tree is looked at.
      const row = rows().find((candidate) => candidate.node === node && !candidate.deduped);
      batch(() => {
        setSelected(location);
        if (row) setActive(row.key);
        else if (tree()!.home[node] !== -1) show(tree()!.home[node]!);
      });
    },
    /** Selects nothing; the project is what is left. */
    deselect() {
      batch(() => {
        setSelected(undefined);
        setActive(ROOT_KEY);
      });
    },
    /** What the address says, before there is a tree. */
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
    /** Another project: nothing of the last one is meant for it. */
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
