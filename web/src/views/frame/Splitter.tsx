// The edge of a side region, which can be dragged, or moved with arrow keys.

import type { Side } from '../../state/panes';
import { useSession } from '../../state/session';

const STEP = 24;

export function Splitter(props: { side: Side }) {
  const { panes } = useSession();
  let handle!: HTMLDivElement;
  const width = () => handle.parentElement!.getBoundingClientRect().width;
  const direction = () => (props.side === 'left' ? 1 : -1);
  const onPointerDown = (event: PointerEvent) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    const [from, before] = [event.clientX, width()];
    handle.onpointermove = (move) => panes.resize(props.side, before + (move.clientX - from) * direction());
    handle.onpointerup = () => {
      handle.onpointermove = null;
    };
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    panes.resize(props.side, width() + step * direction());
  };
  return (
    <div
      ref={handle}
      class={`splitter ${props.side}`}
      role="separator"
      tabindex="0"
      aria-orientation="vertical"
      aria-label={props.side === 'left' ? 'Width of the manifest' : 'Width of the package'}
      aria-valuenow={panes.panes().width[props.side] ?? 304}
      aria-valuemin="200"
      aria-valuemax="560"
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
    />
  );
}
