// The colours of the style sheet for a canvas, which follow the theme.

import { createSignal, createEffect, onCleanup } from 'solid-js';
import { useSession } from '../state/session';
import { read, type Palette } from './colours';

export function createPalette(): () => Palette {
  const { theme } = useSession();
  const [palette, setPalette] = createSignal(read());
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const update = () => setPalette(read());
  scheme.addEventListener('change', update);
  onCleanup(() => scheme.removeEventListener('change', update));
  createEffect(() => {
    theme.theme();
    // The attribute of the theme is set by another effect of the same change.
    queueMicrotask(update);
  });
  return palette;
}
