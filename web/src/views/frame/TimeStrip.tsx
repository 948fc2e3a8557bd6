// The strip of time: fetched documents above the wire, and placed packages below it.

import { createMemo, Show } from 'solid-js';
import { bytes, counted, seconds } from '../../model/format';
import { useSession } from '../../state/session';
import { areas } from '../../model/strip';

const WIDTH = 1000;
const HEIGHT = 24;
/**
 * The minimum number of bytes to show. If a snapshot has everything but a few missing documents,
 * fewer would read as "0 kB".
 */
const LEAST_SHOWN = 1000;

export function TimeStrip() {
  const { run } = useSession();
  const shape = createMemo(() => areas(run.moments(), Math.max(run.elapsed(), 1), WIDTH, HEIGHT));
  return (
    <footer class="time">
      <Show when={run.phase() !== 'idle'} fallback={<p class="soft">No registry has been asked for anything yet.</p>}>
        <svg class="time-shape" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path class="time-fetched" d={shape().fetched} />
          <path class="time-placed" d={shape().placed} />
          <path class="time-wire" d={`M0 ${HEIGHT / 2}H${WIDTH}`} />
        </svg>
        <p class="time-words soft">
          {counted(run.traffic().requests, 'request')}
          <Show when={run.traffic().bytes >= LEAST_SHOWN}>, {bytes(run.traffic().bytes)}</Show>
          <Show when={run.traffic().pending > 0}>, {run.traffic().pending} under way</Show>, {seconds(run.elapsed())}
        </p>
      </Show>
    </footer>
  );
}
