// A failure: the cause, the dependents and the remedies.

import { For, Match, Show, Switch } from 'solid-js';
import type { ErrorDetails, Requirer } from '../../engine/types';
import { seconds } from '../../model/format';
import { remedies } from '../../model/remedies';
import { useSession } from '../../state/session';
import { Conflict } from './Conflict';
import { headline, hint } from './failure-words';
import { RemedyButton } from './RemedyButton';
import { RequirerChain } from './RequirerChain';

export function Failure(props: { error: ErrorDetails }) {
  const { project, run } = useSession();
  const options = () => remedies(props.error, project.registry());
  return (
    <div class="failure">
      <p class="failure-code mono rust">{props.error.code}</p>
      <p class="sentence">{headline(props.error)}</p>
      <Show when={hint(props.error, project.registry())}>{(words) => <p class="soft failure-hint">{words()}</p>}</Show>
      <Switch>
        <Match when={props.error.conflict}>{(conflict) => <Conflict conflict={conflict()} />}</Match>
        <Match when={chainOf(props.error)}>
          {(chain) => (
            <section>
              <h2>Requested by</h2>
              <RequirerChain
                chain={chain()}
                end={{ name: props.error.package || 'its dependency', words: endWords(props.error) }}
              />
            </section>
          )}
        </Match>
      </Switch>
      <Show when={props.error.nearest?.length}>
        <section>
          <h2>Nearest versions</h2>
          <p class="mono">{props.error.nearest!.join('   ')}</p>
        </section>
      </Show>
      <Show when={options().length > 0}>
        <section>
          <h2>What to try</h2>
          <div class="remedies">
            <For each={options()}>{(remedy) => <RemedyButton remedy={remedy} />}</For>
          </div>
        </section>
      </Show>
      <p class="soft">After {seconds(run.elapsed())}.</p>
    </div>
  );
}

function chainOf(error: ErrorDetails): readonly Requirer[] | undefined {
  return error.chain && error.chain.length > 0 ? error.chain : undefined;
}

function endWords(error: ErrorDetails): string {
  if (error.code === 'ETARGET') return 'no such version';
  if (error.code === 'E404') return 'not found';
  return 'not fetched';
}
