// One dependency: the package that answers it, the range it asks by, and what is special about it.

import { Show } from 'solid-js';
import type { GraphEdge, GraphNode } from '../../engine/types';
import { count } from '../../model/format';
import type { Row } from '../../model/rows';
import type { Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { kindWord, title } from '../words';
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
}

export function TreeRow(props: TreeRowProps) {
  const { run, view } = useSession();
  const tree = () => run.tree()!;
  const edge = (): GraphEdge | undefined => tree().edges[props.row.edge];
  const node = (): GraphNode | undefined => tree().nodes[props.row.node];
  const below = () => (props.row.deduped || props.row.node === -1 ? 0 : tree().below[props.row.node]!);

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
        <span class="name mono">
          <Marked text={edge()?.name ?? title(node())} words={props.words} />
        </span>
      </div>
      <div role="gridcell" aria-colindex="2" class="cell-version mono">
        {node()?.version}
      </div>
      <div role="gridcell" aria-colindex="3" class="cell-wanted mono" title={edge()?.spec}>
        {edge()?.spec}
      </div>
      <div role="gridcell" aria-colindex="4" class="cell-kind">
        {kindWord(edge()?.kind)}
      </div>
      <div role="gridcell" aria-colindex="5" class="cell-below">
        <Show when={below() > 0}>
          {count(below())}
          <i class="share" style={{ width: `${share(tree(), below())}%` }} />
        </Show>
      </div>
      <div role="gridcell" aria-colindex="6" class="cell-notes">
        <Notes row={props.row} node={node()} edge={edge()} />
      </div>
    </div>
  );
}

function markOf(row: Row, node: GraphNode | undefined): MarkKind {
  if (!node) return 'missing';
  if (row.deduped) return 'deduped';
  if (row.open !== undefined) return 'branch';
  return node.location.split('node_modules/').length > 2 ? 'graft' : 'leaf';
}

/** The length of the bar under a number. By the root, so that small shares can be told apart. */
function share(tree: Tree, below: number): number {
  return Math.sqrt(below / Math.max(1, tree.below[0]!)) * 100;
}
