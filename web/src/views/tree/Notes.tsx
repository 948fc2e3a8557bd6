// The notes of a row, in words. Colour only repeats them.

import { Show } from 'solid-js';
import type { GraphEdge, GraphNode } from '../../engine/types';
import { copiesOf } from '../../model/copies';
import { problemWord } from '../../model/problems';
import type { Row } from '../../model/rows';
import { useSession } from '../../state/session';

export function Notes(props: { row: Row; node: GraphNode | undefined; edge: GraphEdge | undefined }) {
  const { run, view } = useSession();
  const copies = () => (props.node ? copiesOf(run.tree()!, props.node).length : 0);
  const jump = (event: MouseEvent) => {
    event.stopPropagation();
    view.jump(props.row);
  };
  return (
    <>
      <Show when={props.edge && problemWord(props.edge)}>{(word) => <span class="rust">{word()}</span>}</Show>
      <Show when={props.row.deduped}>
        <button type="button" class="link soft" tabindex="-1" onClick={jump}>
          deduped
        </button>
      </Show>
      <Show when={props.node?.deprecated}>
        <span class="rust">deprecated</span>
      </Show>
      <Show when={copies() > 1}>
        <span class="ochre">{copies()} copies</span>
      </Show>
      <Show when={props.edge?.overridden}>
        <span>overridden</span>
      </Show>
      <Show when={props.node?.inert}>
        <span class="soft" title="not on this platform">
          other platform
        </span>
      </Show>
      <Show when={props.node?.inBundle}>
        <span class="soft">bundled</span>
      </Show>
    </>
  );
}
