// A package of the focus graph: the pointer highlights its path, and a click moves it into the
// middle.

import type { JSX } from 'solid-js';
import type { Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { Sign } from '../Sign';
import { title } from '../words';

export function FocusBox(props: {
  tree: Tree;
  node: number;
  isHere: boolean;
  isLit: boolean;
  light: (node: number | undefined) => void;
  style?: JSX.CSSProperties | undefined;
}) {
  const { view } = useSession();
  const node = () => props.tree.nodes[props.node]!;
  return (
    <button
      type="button"
      class="focus-node"
      classList={{ here: props.isHere, dev: node().dev, root: props.node === 0, lit: props.isLit }}
      title={title(node())}
      data-node={props.node}
      aria-current={props.isHere ? 'true' : undefined}
      style={props.style}
      onPointerEnter={() => props.light(props.node)}
      onPointerLeave={() => props.light(undefined)}
      onFocus={() => props.light(props.node)}
      onBlur={() => props.light(undefined)}
      onClick={(event) => {
        if (props.node === 0) return view.deselect();
        view.choose(node().location);
        event.currentTarget.dispatchEvent(new CustomEvent('show-package', { bubbles: true }));
      }}
    >
      <span class="mono focus-name">
        <Sign node={props.node} />
        {title(node())}
      </span>
      <span class="soft focus-facts mono">{props.node === 0 ? 'the project' : node().version}</span>
    </button>
  );
}
