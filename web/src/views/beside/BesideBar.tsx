// The result of B, in a line below the sentence about A.

import { createMemo, Match, Show, Switch } from 'solid-js';
import { totals } from '../../model/analysis';
import { differing } from '../../model/beside';
import { bytes, counted, seconds } from '../../model/format';
import { packagesOf } from '../../model/tree';
import { useSession } from '../../state/session';
import { headline } from '../outcome/failure-words';
import { Spoken } from '../outcome/Spoken';
import './beside.css';

export function BesideBar() {
  const { project, beside, swap } = useSession();
  const other = () => beside()!;
  const words = createMemo(() => differing(project.inputs(), other().project.inputs()));
  const tree = () => (other().run.result() ? other().run.tree() : undefined);
  return (
    <section class="beside" aria-label="B">
      <strong>B</strong>
      <span>
        <Switch>
          <Match when={other().project.faults().length > 0}>
            <span class="rust">This is not a package.json yet.</span>
          </Match>
          <Match when={other().run.phase() === 'resolving'}>Resolving after {seconds(other().run.elapsed())}</Match>
          <Match when={other().run.phase() === 'failed' && other().run.error()}>
            {(error) => (
              <span class="rust">
                <Spoken words={headline(error())} />
              </span>
            )}
          </Match>
          <Match when={tree()}>
            {(now) => (
              <>
                {counted(packagesOf(now()).length, 'package')}
                <Show when={totals(now()).sized > 0}>, {bytes(totals(now()).bytes)} unpacked</Show>, in{' '}
                {seconds(other().run.elapsed())}
              </>
            )}
          </Match>
        </Switch>
      </span>
      <span class="soft">{words().length > 0 ? words().join(', ') : 'the same as A, so far'}</span>
      <button type="button" class="link soft" onClick={() => swap()} title="Show B in the views, and A beside it">
        Swap
      </button>
    </section>
  );
}
