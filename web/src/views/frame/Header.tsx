import { useSession } from '../../state/session';
import { Glyph } from './Glyph';

export function Header(props: { showKeys: () => void }) {
  const { theme } = useSession();
  return (
    <header class="header">
      <h1 class="brand">
        <Glyph />
        Espalier
      </h1>
      <p class="tagline soft">npm’s tree, resolved in this tab</p>
      <button class="button quiet" onClick={() => theme.next()}>
        Theme: {theme.theme()}
      </button>
      <button class="button quiet" aria-label="Keyboard shortcuts" aria-keyshortcuts="?" onClick={() => props.showKeys()}>
        Keys <kbd>?</kbd>
      </button>
    </header>
  );
}
