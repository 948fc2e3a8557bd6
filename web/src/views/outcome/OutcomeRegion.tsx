// Centre: one sentence, and the tree; or why there is none.

import { Match, Show, Switch } from 'solid-js';
import { useSession } from '../../state/session';
import { TreeGrid } from '../tree/TreeGrid';
import { Beginning } from './Beginning';
import { Failure } from './Failure';
import { NoResults } from './NoResults';
import { Sentence } from './Sentence';
import { Toolbar } from './Toolbar';
import './outcome.css';

export function OutcomeRegion() {
  const { run, view } = useSession();
  return (
    <section class="region outcome" aria-label="Tree">
      <Switch>
        <Match when={run.phase() === 'idle'}>
          <Beginning />
        </Match>
        <Match when={run.phase() === 'failed' && run.error()}>{(error) => <Failure error={error()} />}</Match>
        <Match when={true}>
          <Sentence />
          <Toolbar />
          <Show when={view.matches()?.nodes.size === 0} fallback={<TreeGrid />}>
            <NoResults />
          </Show>
        </Match>
      </Switch>
    </section>
  );
}
