import { createEffect, createMemo, onCleanup, Show } from 'solid-js';
import { bytes } from '../../model/format';
import { EMBEDDED } from '../../state/project';
import { useSession } from '../../state/session';

const NO_HOST = 'The embedded registry has no host, so npm can’t install from this one. Resolve with npm’s registry for that.';

/** The lockfile, byte for byte as npm would have written it. */
export function Download() {
  const { project, run } = useSession();
  const blob = createMemo(() => {
    const result = run.result();
    return result && new Blob([result.lockfile], { type: 'application/json' });
  });
  const address = createMemo(() => {
    const current = blob();
    return current && URL.createObjectURL(current);
  });
  createEffect(() => {
    const current = address();
    onCleanup(() => current && URL.revokeObjectURL(current));
  });
  return (
    <Show when={address()} fallback={<Waiting />}>
      <a
        class="button primary"
        href={address()}
        download="package-lock.json"
        aria-label="Download package-lock.json"
        title={project.registry() === EMBEDDED ? NO_HOST : undefined}
      >
        <span class="wide-only">package-lock.json {bytes(blob()!.size)}</span>
        <span class="narrow-only">Lockfile</span>
        <svg class="arrow" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M8 2v9M4 7.5l4 4 4-4M3 14h10" />
        </svg>
      </a>
    </Show>
  );
}

/** Its place, until there is something to download. */
function Waiting() {
  return (
    <button class="button" disabled aria-label="Download package-lock.json">
      <span class="wide-only">package-lock.json</span>
      <span class="narrow-only">Lockfile</span>
    </button>
  );
}
