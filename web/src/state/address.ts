// Keeps the address at where the playground is, and the playground at where the address says.

import { batch, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { formatAddress, parseAddress } from '../model/address';
import { pack, unpack } from '../model/share';
import type { Project } from './project';
import type { View } from './view';

export function keepAddress(project: Project, view: View): void {
  const [manifest, setManifest] = createSignal<string | undefined>();
  createEffect(
    on([project.text, project.sample], async ([text, sample]) => {
      const packed = sample || text === '' ? undefined : await pack(text);
      if (project.text() === text) setManifest(packed);
    }),
  );

  const here = () =>
    formatAddress({
      sample: project.sample(),
      manifest: manifest(),
      registry: project.registry(),
      legacyPeerDeps: project.legacyPeerDeps(),
      force: project.force(),
      at: view.selected(),
      query: view.query(),
    });
  const go = async () => {
    const address = parseAddress(location.hash);
    const text = address.manifest && address.manifest !== manifest() ? await unpack(address.manifest) : undefined;
    batch(() => {
      project.setRegistry(address.registry);
      project.setLegacyPeerDeps(address.legacyPeerDeps);
      project.setForce(address.force);
      if (text !== undefined) project.edit(text);
      if (address.sample && address.sample !== project.sample()) project.pick(address.sample);
      view.find(address.query);
      if (address.at !== view.selected()) view.select(address.at);
    });
    if (address.at) view.reveal(address.at);
  };
  const write = (before: string | undefined) => {
    const next = here();
    if (next === location.hash.slice(1)) return project.sample();
    // Another project is a step that "back" can undo; everything else is a place in the same one.
    const isStep = before !== undefined && project.sample() !== before;
    history[isStep ? 'pushState' : 'replaceState'](null, '', next === '' ? location.pathname + location.search : `#${next}`);
    return project.sample();
  };

  void go();
  createEffect((before: string | undefined) => write(before));
  window.addEventListener('popstate', go);
  onCleanup(() => window.removeEventListener('popstate', go));
}
