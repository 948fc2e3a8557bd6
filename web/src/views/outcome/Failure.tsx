// A failure: the cause, the dependents and the remedies.

import { For, Match, Show, Switch } from 'solid-js';
import type { ErrorDetails, Requirer } from '../../engine/types';
import { seconds } from '../../model/format';
import { remedies } from '../../model/remedies';
import { isPlayed } from '../../state/played';
import { useSession } from '../../state/session';
import { Conflict } from './Conflict';
import { advice, headline, hint } from './failure-words';
import { effect, RemedyButton } from './RemedyButton';
import { RequirerChain } from './RequirerChain';
import { Spoken } from './Spoken';

export function Failure(props: { error: ErrorDetails }) {
  const { project, run } = useSession();
  const options = () => remedies(props.error, project.registry());
  const advised = () => {
    const isOfButtons = props.error.code === 'ERESOLVE';
    return isOfButtons && options().length === 0 ? [] : advice(props.error, project.registry(), isPlayed);
  };
  return (
    <div class="failure">
      <p>
        <span class="failure-code mono rust">{props.error.code}</span>{' '}
        <span class="soft">after {seconds(run.elapsed())}</span>
      </p>
      <p class="sentence">
        <Spoken words={headline(props.error)} />
      </p>
      <Show when={hint(props.error, project.registry())}>{(words) => <p class="soft failure-hint">{words()}</p>}</Show>
      <Show when={props.error.code === 'ENETUNREACH' && props.error.url}>
        {(url) => <p class="soft mono failure-hint">{url()}</p>}
      </Show>
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
      <Show when={options().length + advised().length > 0}>
        <section>
          <h2>What to try</h2>
          <For each={advised()}>
            {(words) => (
              <p class="failure-advice">
                <Spoken words={words} />
              </p>
            )}
          </For>
          <ul class="remedies">
            <For each={options()}>
              {(remedy) => (
                <li class="tried">
                  <RemedyButton remedy={remedy} />
                  <Show when={effect(remedy)}>{(words) => <span class="soft">{words()}</span>}</Show>
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
    </div>
  );
}

function chainOf(error: ErrorDetails): readonly Requirer[] | undefined {
  return error.chain && error.chain.length > 0 ? error.chain : undefined;
}

function endWords(error: ErrorDetails): string {
  if (error.code === 'ETARGET') return 'no such version';
  if (error.code === 'E404') return 'not found';
  if (error.code === 'ENETUNREACH') return 'no answer';
  if (error.code === 'EINVALIDPACKAGENAME') return 'not a valid name';
  if (['EINVALIDSPEC', 'EINVALIDTAGNAME', 'EUNSUPPORTEDPROTOCOL'].includes(error.code)) return 'not a valid spec';
  return 'not fetched';
}
