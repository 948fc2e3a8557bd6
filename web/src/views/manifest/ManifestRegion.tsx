// Left: what is to be resolved, and from where.

import { For, Show } from 'solid-js';
import { samples } from '../../samples';
import { useSession } from '../../state/session';
import { Editor } from './Editor';
import { FileButton } from './FileButton';
import { Flags } from './Flags';
import { RegistryChoice } from './RegistryChoice';
import './manifest.css';

export function ManifestRegion() {
  const session = useSession();
  const { project, run } = session;
  const fault = () => project.faults()[0];
  return (
    <section class="region manifest" aria-label="Manifest">
      <div class="manifest-bar">
        <label class="sample-choice">
          <span class="unseen">Sample</span>
          <select class="field" value={project.sample() ?? ''} onChange={(event) => session.pick(event.currentTarget.value)}>
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
        <FileButton />
      </div>
      <Editor />
      <p class="fault rust" classList={{ hidden: !fault() }}>
        <Show when={fault()}>
          {(first) => `Line ${first().line}, column ${first().column}: ${first().message}.`}
        </Show>
      </p>
      <RegistryChoice />
      <Flags />
      <div class="manifest-actions">
        <Show
          when={run.phase() === 'resolving'}
          fallback={
            <button
              class="button primary"
              disabled={project.text().trim() === '' || fault() !== undefined}
              aria-keyshortcuts="Control+Enter"
              onClick={() => run.resolve()}
            >
              Resolve
            </button>
          }
        >
          <button class="button" aria-keyshortcuts="Escape" onClick={() => run.stop()}>
            Stop
          </button>
        </Show>
      </div>
    </section>
  );
}
