// Security advisories. Public registries do not let a page request them (CORS), but the program
// behind `espalier play` can.

import { createEffect, createSignal, For, on, onCleanup, Show } from 'solid-js';
import { fixesFor, hits, question, vulnerable, type Hit } from '../../model/advisories';
import { counted } from '../../model/format';
import { packagesOf, type Tree } from '../../model/tree';
import { EMBEDDED, PUBLIC, registryAddress } from '../../state/project';
import { useSession } from '../../state/session';
import { Tries, type Verdict } from '../tries/Tries';

const PATH = '-/npm/v1/security/advisories/bulk';

export function Advisories(props: { tree: Tree }) {
  const { project } = useSession();
  const [found, setFound] = createSignal<readonly Hit[] | string | undefined>();
  let stop = new AbortController();
  onCleanup(() => stop.abort());
  const canAsk = () => project.registry() !== PUBLIC && project.registry() !== EMBEDDED;
  const ask = async () => {
    stop.abort();
    const { signal } = (stop = new AbortController());
    try {
      const headers = { 'content-type': 'application/json' };
      const body = question(props.tree);
      const address = new URL(PATH, registryAddress(project.registry()));
      const response = await fetch(address, { method: 'POST', headers, body, signal });
      if (!response.ok) throw new Error(`HTTP status ${response.status}`);
      setFound(hits(props.tree, await response.json()));
    } catch (error) {
      if (!signal.aborted) setFound(error instanceof Error ? error.message : String(error));
    }
  };
  createEffect(
    on([() => props.tree, canAsk], () => {
      setFound(undefined);
      if (canAsk()) void ask();
    }),
  );
  const list = () => (typeof found() === 'string' ? [] : ((found() ?? []) as readonly Hit[]));
  return (
    <section class="finding" aria-label="Advisories">
      <h2>
        <span class={list().length > 0 ? 'rust' : ''}>
          {list().length > 0 ? counted(list().length, 'advisory', 'advisories') : 'Advisories'}
        </span>
      </h2>
      <p class="soft">
        <Show
          when={canAsk()}
          fallback={
            <>
              Browsers cannot read a public registry’s advisories. Use <code>espalier play</code> or{' '}
              <code>npm audit</code>.
            </>
          }
        >
          {typeof found() === 'string'
            ? `The request for the registry’s advisories failed: ${found() as string}.`
            : found() === undefined
              ? 'Asking the registry…'
              : list().length === 0
                ? 'The registry has no advisories for these versions.'
                : 'What the registry knows of these versions, most severe first.'}
        </Show>
      </p>
      <For each={list()}>{(hit) => <Found tree={props.tree} hit={hit} />}</For>
    </section>
  );
}

function Found(props: { tree: Tree; hit: Hit }) {
  const { view } = useSession();
  const advisory = () => props.hit.advisory;
  const node = (index: number) => props.tree.nodes[index]!;
  const judge = (tree: Tree): Verdict => {
    const left = vulnerable(tree, advisory()).length;
    const grown = packagesOf(tree).length - packagesOf(props.tree).length;
    const words = `fixes it, ${grown < 0 ? '−' : '+'}${counted(Math.abs(grown), 'package')}`;
    return { words: left === 0 ? words : `${left} still vulnerable`, isBetter: left === 0, rank: left };
  };
  return (
    <article class="advisory" aria-label={advisory().title}>
      <p>
        <span class="rust">{advisory().severity}</span>{' '}
        <Show when={advisory().url} fallback={advisory().title}>
          {(url) => (
            <a class="link" href={url()} target="_blank" rel="noopener noreferrer nofollow">
              {advisory().title}
            </a>
          )}
        </Show>
      </p>
      <p class="finding-packages mono">
        <For each={props.hit.nodes}>
          {(index) => (
            <button type="button" class="link" onClick={() => view.choose(node(index).location)}>
              {advisory().name}
              <span class="soft">@{node(index).version}</span>
            </button>
          )}
        </For>
        <span class="soft">vulnerable: {advisory().range}</span>
      </p>
      <Tries
        offer="Try to fix it"
        changes={({ text, settings }) => fixesFor(props.tree, props.hit, text, settings)}
        judge={judge}
      />
    </article>
  );
}
