// Keeps the address at where the playground is, and the playground at where the address says.

import { batch, createEffect, onCleanup } from 'solid-js';
import { formatAddress, parseAddress } from '../model/address';
import type { Project } from './project';
import type { View } from './view';

export function keepAddress(project: Project, view: View): void {
  const here = () =>
    formatAddress({
      sample: project.sample(),
      registry: project.registry(),
      legacyPeerDeps: project.legacyPeerDeps(),
      force: project.force(),
      at: view.selected(),
      query: view.query(),
    });
  const go = () => {
    const address = parseAddress(location.hash);
    batch(() => {
      project.setRegistry(address.registry);
      project.setLegacyPeerDeps(address.legacyPeerDeps);
      project.setForce(address.force);
      if (address.sample && address.sample !== project.sample()) project.pick(address.sample);
      view.find(address.query);
      if (address.at !== view.selected()) view.select(address.at);
    });
    if (address.at) view.reveal(address.at);
  };
  go();

  createEffect((before: string | undefined) => {
    const next = here();
    if (next === location.hash.slice(1)) return project.sample();
    // Another project is a step that "back" can undo; everything else is a place in the same one.
    const isStep = before !== undefined && project.sample() !== before;
    history[isStep ? 'pushState' : 'replaceState'](null, '', next === '' ? location.pathname : `#${next}`);
    return project.sample();
  });
  window.addEventListener('popstate', go);
  onCleanup(() => window.removeEventListener('popstate', go));
}
