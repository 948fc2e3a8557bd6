// Keys that work everywhere but in a text field, which Escape leaves. Those of the tree are in its own
// folder.

import { onCleanup, onMount } from 'solid-js';
import { toggleWord } from '../../model/search';
import { samples } from '../../samples';
import { useSession, type Session } from '../../state/session';
import { singleKeys } from '../../state/single-keys';
import { focus, focusView } from './focus';

export function handleKeys(actions: { showKeys: () => void }): void {
  const session = useSession();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.altKey) return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      session.run.resolve();
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    if (isTextField(event.target)) {
      // A field whose Escape has another use, such as to close a list, has prevented the default.
      if (event.key === 'Escape' && !event.isComposing && !(event.target instanceof HTMLSelectElement)) {
        event.preventDefault();
        focusView();
      }
      return;
    }
    if (event.key.length === 1 && !singleKeys()) return;
    if (act(event.key, session, actions)) event.preventDefault();
  };
  onMount(() => window.addEventListener('keydown', onKeyDown));
  onCleanup(() => window.removeEventListener('keydown', onKeyDown));
}

function act(key: string, session: Session, actions: { showKeys: () => void }): boolean {
  const { view } = session;
  switch (key) {
    case '/':
      return focus('.search input');
    case 'e':
      session.panes.setClosed('left', false);
      return focus('.cm-content');
    case 't':
      view.open('tree');
      queueMicrotask(() => focus('[role=treegrid]'));
      return true;
    case 'o':
      view.open('overview');
      return true;
    case 'f':
      view.open('focus');
      return true;
    case 'm':
      view.open('map');
      return true;
    case 'u':
      return session.history.undo();
    case 'r':
      return session.history.redo();
    case 'w':
      session.panes.setClosed('right', false);
      return focus('.package');
    case 'd':
      view.find(toggleWord(view.query(), 'is:duplicated'));
      return true;
    case 'c':
      if (session.isLanding()) return false;
      if (session.beside()) session.closeBeside();
      else session.openBeside();
      return true;
    case '?':
      actions.showKeys();
      return true;
    case 'Escape':
      return stepBack(session);
  }
  // Digits open samples only on the start page. A key never replaces typed text.
  const sample = session.isLanding() ? samples[Number(key) - 1] : undefined;
  if (!sample) return false;
  session.pick(sample.name);
  return true;
}

/** Escape goes one step back: it ends a run, a jump, a search or a selection. */
function stepBack({ run, view }: Session): boolean {
  if (run.phase() === 'resolving') run.stop();
  else if (view.back()) focus('[role=treegrid]');
  else if (view.query() !== '') view.find('');
  else if (view.selected() !== undefined) view.deselect();
  else return false;
  return true;
}

function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    isTyping(target)
  );
}

function isTyping(target: HTMLElement): boolean {
  return target instanceof HTMLInputElement && ['text', 'search', 'url'].includes(target.type);
}
