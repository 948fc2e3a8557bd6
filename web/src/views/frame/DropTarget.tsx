// A package.json dropped anywhere on the page becomes the manifest.

import { createSignal, onCleanup, onMount, Show } from 'solid-js';
import { useSession } from '../../state/session';

export function DropTarget() {
  const { project, view } = useSession();
  const [over, setOver] = createSignal(false);
  const onOver = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    setOver(true);
  };
  const onLeave = (event: DragEvent) => {
    if (event.relatedTarget === null) setOver(false);
  };
  const onDrop = async (event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    setOver(false);
    const text = await file.text();
    view.reset();
    project.edit(text);
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
      <div class="drop-target">Drop a package.json</div>
    </Show>
  );
}
