// The row of a dependency: its package, its range, and notes.

import { For, Show, type JSX } from 'solid-js';
import type { GraphEdge, GraphNode } from '../../engine/types';
import { analyze, reaches } from '../../model/analysis';
import { count } from '../../model/format';
import type { Row } from '../../model/rows';
import { useSession } from '../../state/session';
import { Sign } from '../Sign';
import { kindWord, title } from '../words';
import type { ColumnName } from './columns';
import { Mark, type MarkKind } from './Mark';
import { Marked } from './Marked';
import { Notes } from './Notes';
import { Wires, type Trained } from './Wires';

export interface TreeRowProps {
  row: Row;
  index: number;
  height: number;
  isActive: boolean;
  isMatch: boolean;
  trained: Trained | undefined;
  words: readonly string[];
  columns: readonly ColumnName[];
  /** Whether the notes have no room for a column, and are beside the name. */
  notesByName: boolean;
}

const CLASSES: Record<ColumnName, string> = {
  package: 'cell-name',
  version: 'cell-version mono',
  wanted: 'cell-wanted mono',
  kind: 'cell-kind',
  only: 'cell-below',
  reaches: 'cell-below',
  notes: 'cell-notes',
};

export function TreeRow(props: TreeRowProps) {
  const { run, view } = useSession();
  const tree = () => run.tree()!;
  const edge = (): GraphEdge | undefined => tree().edges[props.row.edge];
  const node = (): GraphNode | undefined => tree().nodes[props.row.node];
  const name = () => edge()?.name ?? title(node());
  // A deduped row has no figures, because only the package's own row counts.
  const only = () => (props.row.deduped || props.row.node === -1 ? 0 : analyze(tree()).only[props.row.node]!);
  const reached = () => (props.row.deduped || props.row.node === -1 ? 0 : reaches(tree(), props.row.node));

  const cells: Record<ColumnName, () => JSX.Element> = {
    package: () => undefined,
    version: () => node()?.version,
    wanted: () => edge()?.spec,
    kind: () => kindWord(edge()?.kind),
    only: () => only() > 0 && count(props.row.level === 1 ? only() - 1 : only()),
    reaches: () => reached() > 0 && count(reached()),
    notes: () => <Notes row={props.row} node={node()} edge={edge()} />,
  };

  const onClick = (event: MouseEvent) => {
    view.activate(props.index);
    event.currentTarget!.dispatchEvent(new CustomEvent('show-package', { bubbles: true }));
  };
  const toggle = (event: MouseEvent) => {
    event.stopPropagation();
    view.activate(props.index);
    view.toggle(props.row, !props.row.open);
  };
  return (
    <div
      role="row"
      id={`row-${props.index}`}
      class="tree-row"
      classList={{
        active: props.isActive,
        context: !props.isMatch,
        deduped: props.row.deduped,
        dev: node()?.dev,
        optional: node()?.optional || node()?.inert,
        root: props.row.level === 1,
      }}
      style={{ transform: `translateY(${props.index * props.height}px)` }}
      aria-rowindex={props.index + 2}
      aria-level={props.row.level}
      aria-posinset={props.row.position}
      aria-setsize={props.row.setSize}
      aria-expanded={props.row.open}
      aria-selected={props.isActive}
      onClick={onClick}
    >
      <div role="gridcell" aria-colindex="1" class="cell-name">
        <Wires row={props.row} height={props.height} trained={props.trained} />
        <span class="twisty" onClick={toggle}>
          <Mark kind={markOf(props.row, node())} open={props.row.open} />
        </span>
        <Show when={!props.row.deduped && props.row.node !== -1}>
          <Sign node={props.row.node} />
        </Show>
        <span class="name mono" title={name()}>
          <Marked text={name()} words={props.words} />
        </span>
        <Show when={props.notesByName}>
          <span class="name-notes">{cells.notes()}</span>
        </Show>
      </div>
      <For each={props.columns.slice(1)}>
        {(name, index) => (
          <div
            role="gridcell"
            aria-colindex={index() + 2}
            class={CLASSES[name]}
            title={name === 'wanted' ? edge()?.spec : undefined}
          >
            {cells[name]()}
          </div>
        )}
      </For>
    </div>
  );
}

function markOf(row: Row, node: GraphNode | undefined): MarkKind {
  if (!node) return 'missing';
  if (row.deduped) return 'deduped';
  if (row.open !== undefined) return 'branch';
  return node.location.split('node_modules/').length > 2 ? 'graft' : 'leaf';
}
