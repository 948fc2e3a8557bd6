// Whether single keys are shortcuts. People who dictate turn them off, because a spoken word is
// many keys.

import { createSignal } from 'solid-js';

const KEY = 'single-keys';
const [singleKeys, set] = createSignal(localStorage.getItem(KEY) !== 'off');

export { singleKeys };

export function setSingleKeys(on: boolean): void {
  set(on);
  localStorage.setItem(KEY, on ? 'on' : 'off');
}
