// Facts from the document of the selected version, which is requested from its registry. The
// embedded registry has no such documents.

import { createResource, onCleanup, Show } from 'solid-js';
import { aboutOf } from '../../model/about';
import { packageName } from '../../model/copies';
import type { Tree } from '../../model/tree';
import { EMBEDDED, registryAddress } from '../../state/project';
import { useSession } from '../../state/session';

/**
 * The pause before the request, in milliseconds. Keys that move the selection pass packages without
 * a request.
 */
const PAUSE = 350;

export function Facts(props: { tree: Tree; node: number }) {
  const { project, run } = useSession();
  let stop: AbortController | undefined;
  onCleanup(() => stop?.abort());
  const address = () => {
    const { version, target, inBundle, resolved } = props.tree.nodes[props.node]!;
    const registry = project.registry();
    if (!version || target !== undefined || inBundle || !resolved || registry === EMBEDDED) return undefined;
    const base = registryAddress(registry) ?? run.result()?.registry;
    const name = packageName(props.tree.nodes[props.node]!).replace('/', '%2f');
    return base && new URL(`${name}/${encodeURIComponent(version)}`, base).href;
  };
  const [about] = createResource(address, async (from) => {
    stop?.abort();
    const { signal } = (stop = new AbortController());
    try {
      await new Promise((rest) => setTimeout(rest, PAUSE));
      if (signal.aborted) return undefined;
      const response = await fetch(from, { signal });
      return response.ok ? aboutOf(await response.json()) : undefined;
    } catch {
      // The card is complete without these facts.
      return undefined;
    }
  });
  return (
    <Show when={!about.loading && about()}>
      {(known) => (
        <div class="facts">
          <Show when={known().description}>{(words) => <p>{words()}</p>}</Show>
          <p class="card-facts">
            <Show when={known().homepage}>{(to) => <Out to={to()} words="Homepage" />}</Show>
            <Show when={known().repository}>{(to) => <Out to={to()} words="Repository" />}</Show>
            <Show when={known().modules}>{(words) => <span class="soft">{words()}</span>}</Show>
            <Show when={known().types}>
              <span class="soft">includes types</span>
            </Show>
          </p>
        </div>
      )}
    </Show>
  );
}

function Out(props: { to: string; words: string }) {
  return (
    <a class="link" href={props.to} title={props.to} target="_blank" rel="noopener noreferrer nofollow">
      {props.words}
    </a>
  );
}
