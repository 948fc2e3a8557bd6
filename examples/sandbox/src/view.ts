// The parts of the page beside the editor and the preview: the sentence, the lists and the console.

import type { Message } from './preview.ts';

/** The element for a selector, which exists in index.html. */
export function find<E extends HTMLElement>(selector: string): E {
  const element = document.querySelector<E>(selector);
  if (!element) throw new Error(`index.html has no ${selector}`);
  return element;
}

export function say(text: string, failed = false): void {
  const sentence = find('.sentence');
  sentence.textContent = text;
  sentence.classList.toggle('failed', failed);
}

export function showFiles(files: string[], current: string, open: (file: string) => void): void {
  const rows = files.map((file) => {
    const button = element('button', { className: 'mono', textContent: file, onclick: () => open(file) });
    button.setAttribute('aria-current', String(file === current));
    return row(button);
  });
  find('.files').replaceChildren(...rows);
}

export function showDependencies(
  dependencies: Record<string, string>,
  installed: ReadonlyMap<string, string>,
  remove: (name: string) => void,
): void {
  const rows = Object.entries(dependencies).map(([name, spec]) => {
    const version = element('span', {
      className: 'mono soft',
      textContent: installed.get(name) ?? '…',
      title: `${name}@${spec}`,
    });
    const button = element('button', { textContent: '×', onclick: () => remove(name) });
    button.setAttribute('aria-label', `Remove ${name}`);
    return row(element('span', { className: 'mono name', textContent: name, title: name }), version, button);
  });
  find('.dependencies').replaceChildren(...rows);
}

/** Adds a line to the console, which appears with its first line. */
export function log({ type, text }: Message): void {
  const line = element('li', { className: type, textContent: text ?? '' });
  find('.console').hidden = false;
  find('.console ol').append(line);
  line.scrollIntoView();
}

export function clearLog(): void {
  find('.console').hidden = true;
  find('.console ol').replaceChildren();
}

function row(...children: HTMLElement[]): HTMLElement {
  const item = document.createElement('li');
  item.append(...children);
  return item;
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(name), properties);
}
