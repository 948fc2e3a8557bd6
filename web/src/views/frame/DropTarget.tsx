// A package.json dropped anywhere on the page becomes the manifest; a package-lock.json is compared with.

import { createSignal, onCleanup, onMount, Show } from 'solid-js';
import { take } from '../../state/intake';
import { useSession } from '../../state/session';

export function DropTarget() {
  const session = useSession();
  const [over, setOver] = createSignal(false);
  const onOver = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    setOver(true);
  };
  const onLeave = (event: DragEvent) => {
    if (event.relatedTarget === null) setOver(false);
  };
  const onDrop = (event: DragEvent) => {
    const files = event.dataTransfer?.files;
    if (!files || files.length === 0) return;
    event.preventDefault();
    setOver(false);
    void take(session, files);
  };
  onMount(() => {
    window.addEventListener('dragover', onOver);
    window.addEventListener('dragleave', onLeave);
    window.addEventListener('drop', onDrop);
  });
  onCleanup(() => {
    window.removeEventListener('dragover', onOver);
    window.removeEventListener('dragleave', onLeave);
    window.removeEventListener('drop', onDrop);
  });
  return (
    <Show when={over()}>
      <div class="drop-target">Drop a package.json, a package-lock.json, or both</div>
    </Show>
  );
}
