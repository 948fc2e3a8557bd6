// Before the first tree: what is wrong with the text, and the samples, each with its key.

import { For, Show } from 'solid-js';
import { samples } from '../../samples';
import { useSession } from '../../state/session';

export function Beginning() {
  const session = useSession();
  return (
    <div class="beginning">
      <p class="sentence">
        <Show
          when={session.project.faults()[0]}
          fallback="Write, paste or drop a package.json, or begin with one of these."
        >
          {(fault) => (
            <>
              <span class="rust">This is not a package.json yet.</span> Line {fault().line}, column {fault().column}:{' '}
              {fault().message}. Correct it, or begin with one of these.
            </>
          )}
        </Show>
      </p>
      <ol class="sample-wires">
        <For each={samples}>
          {(sample, index) => (
            <li>
              <svg class="sample-branch" viewBox="0 0 16 64" aria-hidden="true">
                <path d="M1 64V36l8-8h8" />
              </svg>
              <button type="button" class="plain sample" onClick={() => session.pick(sample.name)}>
                <span class="sample-name">
                  <span class="mono">{sample.name}</span>
                  <kbd>{index() + 1}</kbd>
                </span>
                <span class="soft">{sample.about}</span>
              </button>
            </li>
          )}
        </For>
      </ol>
      <p class="soft">
        The samples come with this page and need no network. Everything is resolved here, in a worker; nothing is
        uploaded.
      </p>
    </div>
  );
}
