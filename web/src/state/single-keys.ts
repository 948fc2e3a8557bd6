// Whether single keys act on their own. Those who speak to their computer turn them off: a word is many keys.

import { createSignal } from 'solid-js';

const KEY = 'single-keys';
const [singleKeys, set] = createSignal(localStorage.getItem(KEY) !== 'off');

export { singleKeys };

export function setSingleKeys(on: boolean): void {
  set(on);
  localStorage.setItem(KEY, on ? 'on' : 'off');
}
