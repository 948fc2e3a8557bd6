// The choice of the registry: the embedded one, npm's public one, or another.

import { createSignal, onCleanup, onMount, Show } from 'solid-js';
import { EMBEDDED, PUBLIC } from '../../state/project';
import { isPlayed } from '../../state/played';
import { useSession } from '../../state/session';

const OTHER = 'other';

export function RegistryChoice() {
  if (!isPlayed) return <Choice />;
  return (
    <fieldset class="choice">
      <legend>Registry</legend>
      <p class="soft">
        Your .npmrc files decide. <code>espalier play</code> makes the requests, so no token reaches this page.
      </p>
    </fieldset>
  );
}

function Choice() {
  const { project } = useSession();
  const isKnown = (registry: string) => registry === EMBEDDED || registry === PUBLIC;
  const [other, setOther] = createSignal(false);
  const [online, setOnline] = createSignal(navigator.onLine);
  const choice = () => (other() || !isKnown(project.registry()) ? OTHER : project.registry());

  const choose = (next: string) => {
    setOther(next === OTHER);
    if (next !== OTHER) project.setRegistry(next);
  };
  // The browser reports other invalid addresses.
  const enter = (field: HTMLInputElement) => {
    if (field.reportValidity() && field.value !== '') project.setRegistry(field.value);
  };
  const update = () => setOnline(navigator.onLine);
  onMount(() => {
    window.addEventListener('online', update);
    window.addEventListener('offline', update);
  });
  onCleanup(() => {
    window.removeEventListener('online', update);
    window.removeEventListener('offline', update);
  });

  const option = (value: string, words: string) => (
    <label>
      <input type="radio" name="registry" value={value} checked={choice() === value} onChange={() => choose(value)} />
      {words}
    </label>
  );
  return (
    <fieldset class="choice">
      <legend>Registry</legend>
      {option(EMBEDDED, 'Embedded')}
      {option(PUBLIC, 'npm, live')}
      {option(OTHER, 'Other')}
      <Show when={choice() === OTHER}>
        <input
          class="field mono registry-address"
          type="url"
          pattern="https?://.+"
          title="an address that begins with https:// or http://"
          aria-label="Address of the registry"
          placeholder="https://npm.example.com/"
          value={isKnown(project.registry()) ? '' : project.registry()}
          onChange={(event) => enter(event.currentTarget)}
        />
      </Show>
      <Show when={!online() && choice() !== EMBEDDED}>
        <p class="rust registry-note">This machine is offline. The embedded registry needs no network.</p>
      </Show>
    </fieldset>
  );
}
