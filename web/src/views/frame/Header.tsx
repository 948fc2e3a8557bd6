import { lazy, Show, Suspense } from 'solid-js';
import { useSession } from '../../state/session';
import { Glyph } from './Glyph';

const Share = lazy(() => import('../share/Share').then(({ Share }) => ({ default: Share })));

export function Header(props: { showKeys: () => void }) {
  const { theme, leave, isLanding, history, played } = useSession();
  return (
    <header class="header">
      <h1 class="brand">
        <button type="button" class="plain brand-button" onClick={() => leave()} title="Start over">
          <Glyph />
          Espalier
        </button>
      </h1>
      <p class="tagline soft">
        {isLanding() ? '' : played() ? `${played()!.folder}, resolved in this tab` : 'npm’s tree, resolved in this tab'}
      </p>
      <Show when={!isLanding()}>
        <button
          type="button"
          class="button quiet"
          disabled={!history.canUndo()}
          aria-label="Undo the last change"
          aria-keyshortcuts="u"
          onClick={() => history.undo()}
        >
          <Arrow /> <span class="wide-header">Undo</span>
        </button>
        <button
          type="button"
          class="button quiet"
          disabled={!history.canRedo()}
          aria-label="Redo the change"
          aria-keyshortcuts="r"
          onClick={() => history.redo()}
        >
          <Arrow forward /> <span class="wide-header">Redo</span>
        </button>
        <Suspense>
          <Share />
        </Suspense>
      </Show>
      <button type="button" class="button quiet" onClick={() => theme.next()}>
        Theme: {theme.theme()}
      </button>
      <button
        type="button"
        class="button quiet keys-button"
        aria-label="Keyboard shortcuts"
        aria-keyshortcuts="?"
        onClick={() => props.showKeys()}
      >
        Keys <kbd>?</kbd>
      </button>
    </header>
  );
}

function Arrow(props: { forward?: boolean }) {
  return (
    <svg class="arrow" classList={{ forward: props.forward }} viewBox="0 0 16 16" aria-hidden="true">
      <path d="M7 3 3 7l4 4M3 7h6a4 4 0 0 1 0 7H7" />
    </svg>
  );
}
