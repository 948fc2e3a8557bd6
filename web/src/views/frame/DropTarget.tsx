// Accepts files that are dropped anywhere: a package.json becomes the manifest, and a
// package-lock.json is compared.

import { createSignal, onCleanup, onMount, Show } from 'solid-js';
import { takeDropped } from '../../state/intake';
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
    const data = event.dataTransfer;
    if (!data || data.items.length === 0) return;
    event.preventDefault();
    setOver(false);
    void takeDropped(session, data);
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
      <div class="drop-target">Drop a package.json, a package-lock.json, a folder or a zip</div>
    </Show>
  );
}
