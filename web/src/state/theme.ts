// The theme: the system's, until somebody chooses one. The choice is stored.

import { createEffect, createSignal } from 'solid-js';

export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'theme';
const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };

export function createTheme() {
  const [theme, setTheme] = createSignal<Theme>(remembered());
  createEffect(() => {
    if (theme() === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme();
    localStorage.setItem(KEY, theme());
  });
  return { theme, next: () => setTheme((current) => NEXT[current]) };
}

function remembered(): Theme {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'auto';
}
