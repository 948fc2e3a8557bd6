// A sample that resolves on the start page, with the page's own resolver.

import { createSignal, onCleanup, onMount, Show } from 'solid-js';
import { start } from '../../engine';
import { USUAL } from '../../model/address';
import { totals } from '../../model/analysis';
import { bytes, counted, seconds } from '../../model/format';
import { Growth } from '../../model/growth';
import { identity } from '../../model/manifest';
import { packagesOf, treeOf, type Tree } from '../../model/tree';
import { samples } from '../../samples';
import { EMBEDDED, sourceOf } from '../../state/project';
import { useSession } from '../../state/session';
import { Overview } from '../overview/Overview';

const SAMPLE = 'vite-react-ts';
const REDRAW = 120;

export function Specimen() {
  const { pick } = useSession();
  const [tree, setTree] = createSignal<Tree | undefined>();
  const [elapsed, setElapsed] = createSignal<number | undefined>();
  const sample = samples.find(({ name }) => name === SAMPLE)!;

  onMount(() => {
    const growth = new Growth();
    const began = performance.now();
    const { name = SAMPLE, version } = identity(sample.manifest);
    let drawnAt = 0;
    const stop = start(
      { manifest: sample.manifest, ...sourceOf(EMBEDDED, sample.manifest), settings: USUAL },
      {
        events(events) {
          growth.apply(events, performance.now() - began);
          if (performance.now() - drawnAt < REDRAW) return;
          drawnAt = performance.now();
          setTree(treeOf(growth.graph(name, version)));
        },
        done(result) {
          setTree(treeOf(result.graph));
          setElapsed(performance.now() - began);
        },
        // The page works without the picture.
        failed() {},
      },
    );
    onCleanup(stop);
  });
  return (
    <section class="specimen" aria-label={`Sample: ${SAMPLE}`}>
      <Show when={tree()}>{(current) => <Overview tree={current()} plain />}</Show>
      <p class="specimen-words">
        <span class="soft">
          <Show when={tree()} fallback={<span class="mono">{SAMPLE}</span>}>
            {(current) => (
              <>
                {counted(packagesOf(current()).length, 'package')}
                <Show when={elapsed() !== undefined && totals(current()).bytes > 0}>
                  , {bytes(totals(current()).bytes)} unpacked
                </Show>
                <Show when={elapsed()}>{(time) => <>, resolved here in {seconds(time())}</>}</Show>
              </>
            )}
          </Show>
        </span>
        <button type="button" class="link" onClick={() => pick(SAMPLE)}>
          Open it
        </button>
      </p>
    </section>
  );
}
