// The start page: one field for any input, and a tree that resolves below it.

import { createSignal, For, Show } from 'solid-js';
import { samples } from '../../samples';
import { ask, take } from '../../state/intake';
import { useSession } from '../../state/session';
import { Specimen } from './Specimen';
import './landing.css';

export function Landing() {
  const session = useSession();
  const [text, setText] = createSignal('');
  const [complaint, setComplaint] = createSignal<string | undefined>();
  let files!: HTMLInputElement;
  let field!: HTMLTextAreaElement;

  const go = (input: string) => setComplaint(ask(session, input));
  const onKeyDown = (event: KeyboardEvent) => {
    // Within a package.json, Enter starts a new line.
    const isText = text().trim().startsWith('{') && !event.ctrlKey && !event.metaKey;
    if (event.key !== 'Enter' || event.shiftKey || isText) return;
    event.preventDefault();
    go(text());
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData?.getData('text/plain') ?? '';
    // A complete package.json is resolved at once.
    if (field.value.trim() !== '' || !isJson(pasted)) return;
    event.preventDefault();
    go(pasted);
  };
  return (
    <main class="landing" aria-label="Start">
      <div class="landing-top">
        <h2 class="landing-title">See why your node_modules is what it is.</h2>
        <p class="landing-words soft">
          Espalier resolves a project exactly as npm does, in this tab. Look at the whole tree, ask why a package is
          there, and try what would change it.
        </p>
        <form
          class="ask"
          onSubmit={(event) => {
            event.preventDefault();
            go(text());
          }}
        >
          <label class="ask-field">
            <span class="unseen">Package names, or a package.json</span>
            <textarea
              ref={field}
              class="mono"
              rows={text().includes('\n') ? 8 : 1}
              placeholder="react@19 vite"
              aria-label="Package names, or a package.json"
              aria-describedby="ask-help"
              aria-invalid={complaint() !== undefined}
              spellcheck={false}
              autocomplete="off"
              autocapitalize="off"
              value={text()}
              onInput={(event) => {
                setText(event.currentTarget.value);
                setComplaint(undefined);
              }}
              onKeyDown={onKeyDown}
              onPaste={onPaste}
            />
          </label>
          <button type="submit" class="button primary ask-button">
            Resolve
          </button>
        </form>
        <Show when={complaint()}>
          {(words) => (
            <p class="rust" role="alert">
              {words()}
            </p>
          )}
        </Show>
        <p id="ask-help" class="soft landing-help">
          Type names, paste a package.json, or drop a lockfile, a folder or a zip anywhere, or{' '}
          <span class="landing-files">
            <button class="link" type="button" onClick={() => files.click()}>
              choose files
            </button>
            .
          </span>{' '}
          Espalier resolves your project with{' '}
          {session.project.registry() === 'embedded' ? 'the embedded registry' : 'npm’s live registry'}. Nothing is
          uploaded.
        </p>
        <input
          ref={files}
          type="file"
          multiple
          accept=".json,.zip,application/json,application/zip"
          hidden
          onChange={async () => {
            await take(session, files.files ?? []);
            files.value = '';
          }}
        />
      </div>
      <Specimen />
      <nav class="samples" aria-label="Samples">
        <p class="soft">Samples, from an embedded registry that needs no network:</p>
        <ol>
          <For each={samples}>
            {(sample, index) => (
              <li>
                <button type="button" class="plain sample" onClick={() => session.pick(sample.name)}>
                  <span class="sample-name">
                    <span class="mono">{sample.name}</span> <kbd>{index() + 1}</kbd>
                  </span>
                  <span class="soft sample-about">{sample.about}</span>
                </button>
              </li>
            )}
          </For>
        </ol>
      </nav>
    </main>
  );
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
