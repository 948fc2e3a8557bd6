// The left region: the manifest and the registry.

import { For, lazy, Show, Suspense } from 'solid-js';
import { breathe } from '../../engine';
import { samples } from '../../samples';
import { useSession } from '../../state/session';
import { OtherSide } from '../beside/OtherSide';
import { Sides } from '../beside/Sides';
import { Splitter } from '../frame/Splitter';
import { FileButton } from './FileButton';
import { Flags } from './Flags';
import { RegistryChoice } from './RegistryChoice';
import './manifest.css';

// The editor is half of the page's weight, and the start page does not need it. Loading and
// creating it are separate tasks.
const Editor = lazy(async () => {
  const { Editor } = await import('./Editor');
  await breathe();
  return { default: Editor };
});

/** The side that is edited, of two projects side by side. */
export function ManifestRegion() {
  const { panes, beside, side } = useSession();
  return (
    <section class="region manifest" aria-label="Manifest">
      <button type="button" class="plain rail" onClick={() => panes.setClosed('left', false)}>
        package.json
      </button>
      <Splitter side="left" />
      <Show when={beside()}>
        <Sides />
      </Show>
      <Show when={side() === 'b'} fallback={<Manifest />}>
        <OtherSide>
          <Manifest />
        </OtherSide>
      </Show>
    </section>
  );
}

function Manifest() {
  const session = useSession();
  const { project, run, panes, beside } = session;
  const fault = () => project.faults()[0];
  return (
    <>
      <div class="manifest-bar">
        <Show when={samples.length > 0} fallback={<span class="sample-choice mono">{session.played()?.folder}</span>}>
          <label class="sample-choice">
            <span class="unseen">Sample</span>
            <select
              class="field"
              value={project.sample() ?? ''}
              onChange={(event) => session.pick(event.currentTarget.value)}
            >
              <option value="" disabled>
                {project.text() === '' ? 'Samples' : 'Your own'}
              </option>
              <For each={samples}>
                {(sample) => (
                  <option value={sample.name} selected={project.sample() === sample.name}>
                    {sample.name}
                  </option>
                )}
              </For>
            </select>
          </label>
        </Show>
        <FileButton />
        <button
          type="button"
          class="plain region-close"
          aria-label="Close the manifest"
          onClick={() => panes.setClosed('left', true)}
        >
          «
        </button>
      </div>
      <Suspense fallback={<div class="editor" />}>
        <Editor />
      </Suspense>
      <p class="fault rust" classList={{ hidden: !fault() }}>
        <Show when={fault()}>
          {(first) => (
            <>
              Line {first().line}, column {first().column}: {first().message}.
            </>
          )}
        </Show>
      </p>
      <RegistryChoice />
      <Flags />
      <Show when={project.lockfile() !== undefined}>
        <div class="choice">
          <label>
            <input
              type="checkbox"
              checked={project.startsFromLock()}
              onChange={(event) => project.setStartsFromLock(event.currentTarget.checked)}
            />
            Start from your package-lock.json
          </label>
        </div>
      </Show>
      <div class="manifest-actions">
        <Show
          when={run.phase() === 'resolving'}
          fallback={
            <button
              type="button"
              class="button primary"
              disabled={project.text().trim() === '' || fault() !== undefined}
              aria-keyshortcuts="Control+Enter"
              onClick={() => run.resolve()}
            >
              Resolve
            </button>
          }
        >
          <button type="button" class="button" aria-keyshortcuts="Escape" onClick={() => run.stop()}>
            Stop
          </button>
        </Show>
        <Show when={!beside()}>
          <Sides />
        </Show>
      </div>
    </>
  );
}
