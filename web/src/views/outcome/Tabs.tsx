// The tabs of the views. Arrow keys move between them, according to the ARIA practices.

import { createEffect, For } from 'solid-js';
import { VIEWS } from '../../model/views';
import { useSession } from '../../state/session';

export function Tabs() {
  const { view } = useSession();
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = VIEWS.findIndex(([name]) => name === view.name());
    const [name] = VIEWS[(at + step + VIEWS.length) % VIEWS.length]!;
    view.open(name);
    document.getElementById(`tab-${name}`)?.focus();
  };
  let tabs!: HTMLDivElement;
  createEffect(() => {
    // On a phone, only some tabs fit, so the open one is scrolled into view.
    const tab = tabs.children[VIEWS.findIndex(([name]) => name === view.name())] as HTMLElement | undefined;
    if (tab) tabs.scrollLeft = tab.offsetLeft + tab.offsetWidth / 2 - tabs.clientWidth / 2;
  });
  return (
    <div ref={tabs} class="tabs" role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
      <For each={VIEWS}>
        {([name, words]) => (
          <button
            type="button"
            class="plain tab"
            role="tab"
            id={`tab-${name}`}
            aria-selected={view.name() === name}
            aria-controls="view"
            tabindex={view.name() === name ? 0 : -1}
            onClick={() => view.open(name)}
          >
            {words}
          </button>
        )}
      </For>
    </div>
  );
}
