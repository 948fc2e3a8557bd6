// Synchronises the address and the state of the playground. A change of the project, the view or
// the selection is a step of the browser's history. Typing into the search field is not.

import { batch, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { formatAddress, parseAddress } from '../model/address';
import { besideOf, besideText } from '../model/beside';
import { pack, unpack } from '../model/share';
import { FIRST_VIEW } from '../model/views';
import type { Beside } from './beside';
import { isPlayed, type Played } from './played';
import type { Inputs, Project } from './project';
import type { View } from './view';

interface Parts {
  readonly project: Project;
  readonly view: View;
  pick(sample: string): void;
  begin(text: string): void;
  leave(): void;
  beside(): Beside | undefined;
  openBeside(inputs: Inputs): void;
  closeBeside(): void;
  played(): Played | undefined;
  setNotice(words: string | undefined): void;
}

export function keepAddress(parts: Parts): void {
  const { project, view, pick, begin, leave, played, setNotice } = parts;
  const [manifest, setManifest] = createSignal<string | undefined>();
  const [other, setOther] = createSignal<string | undefined>();
  const besides = () => parts.beside() && besideText(parts.beside()!.project.inputs());
  createEffect(
    on(besides, async (text) => {
      const packed = text && (await pack(text));
      if (besides() === text) setOther(packed);
    }),
  );
  createEffect(
    on([project.text, project.sample], async ([text, sample]) => {
      // Without a project in the address, the one of the serving program is meant.
      const packed = sample || text === '' || text === played()?.manifest ? undefined : await pack(text);
      if (project.text() === text) setManifest(packed);
    }),
  );

  const here = () =>
    formatAddress({
      sample: project.sample(),
      manifest: manifest(),
      registry: project.chosen(),
      settings: project.settings(),
      beside: other(),
      view: view.name() === FIRST_VIEW ? undefined : view.name(),
      at: view.selected(),
      query: view.query(),
    });
  // The steps of the history: the project, the view, the package.
  const step = () => JSON.stringify([project.generation(), view.name(), view.selected()]);

  let isGoing = true;
  const go = async () => {
    const address = parseAddress(location.hash);
    const isNew = address.manifest !== undefined && address.manifest !== manifest();
    const text = isNew ? await unpack(address.manifest!) : undefined;
    const isOther = address.beside !== other();
    // Another project as A closes B.
    const isOpened = isOther || isNew || address.sample !== project.sample();
    const second = isOpened && address.beside ? besideOf((await unpack(address.beside)) ?? '') : undefined;
    isGoing = true;
    batch(() => {
      if (text !== undefined && text !== project.text()) begin(text);
      if (address.sample && address.sample !== project.sample()) pick(address.sample);
      if (isNew && text === undefined) {
        setNotice(
          'This link is damaged: the package.json in it can’t be read. It may have been cut off when it was copied.',
        );
      }
      const isBare = address.manifest === undefined && address.sample === undefined;
      if (isBare && project.generation() > 0 && project.text() !== played()?.manifest) leave();
      if (!isPlayed || !isBare) {
        project.setRegistry(address.registry);
        project.setSettings(address.settings);
      }
      if (second) parts.openBeside(second);
      else if (isOther && !address.beside) parts.closeBeside();
      view.find(address.query);
      view.open(address.view ?? FIRST_VIEW);
      if (address.at !== view.selected()) {
        if (address.at === undefined) view.deselect();
        else view.select(address.at);
      }
    });
    if (address.at) view.reveal(address.at);
    last = step();
    isGoing = false;
    write();
  };
  let last = '';
  const write = () => {
    const next = here();
    const now = step();
    if (isGoing) return;
    const isStep = now !== last && last !== '';
    last = now;
    if (next === location.hash.slice(1)) return;
    history[isStep ? 'pushState' : 'replaceState'](
      null,
      '',
      next === '' ? location.pathname + location.search : `#${next}`,
    );
  };

  void go();
  createEffect(write);
  window.addEventListener('popstate', go);
  onCleanup(() => window.removeEventListener('popstate', go));
}
