// The actions on a package. Edits of package.json can be undone.

import { Show } from 'solid-js';
import { packageName } from '../../model/copies';
import { pageOnSite } from '../../model/site';
import { withChanges, withOverride, withoutDependency } from '../../model/manifest';
import type { Tree } from '../../model/tree';
import { PUBLIC } from '../../state/project';
import { useSession } from '../../state/session';

export function Actions(props: { tree: Tree; node: number }) {
  const { project, run, view } = useSession();
  const node = () => props.tree.nodes[props.node]!;
  /** The project's own edge to the package, if there is one. */
  const own = () => props.tree.into[props.node]!.map((edge) => props.tree.edges[edge]!).find(({ from }) => from === 0);
  const block = () =>
    ({ dev: 'devDependencies', optional: 'optionalDependencies', peer: 'peerDependencies' })[own()!.kind as string] ??
    'dependencies';
  const ask = (range: string) =>
    project.edit(
      withChanges(project.text(), [{ kind: 'range', block: block(), name: own()!.name, from: own()!.spec, to: range }]),
    );
  const page = () =>
    project.registry() === PUBLIC && run.result() ? pageOnSite(run.result()!.registry, node()) : undefined;
  const isPinned = () => own()?.spec === node().version;
  return (
    <div class="actions">
      <Show when={own() && node().version}>
        <Show when={!isPinned()}>
          <button
            type="button"
            class="button"
            title={`Ask for exactly ${node().version}`}
            onClick={() => ask(node().version!)}
          >
            Pin
          </button>
        </Show>
        <button type="button" class="button" title="Ask for the latest version" onClick={() => ask('latest')}>
          Update
        </button>
        <button
          type="button"
          class="button"
          title="Remove it from package.json"
          onClick={() => project.edit(withoutDependency(project.text(), own()!.name))}
        >
          Remove
        </button>
      </Show>
      <Show when={node().version}>
        <button
          type="button"
          class="button"
          title={`Use ${node().version} for every dependency on ${packageName(node())}`}
          onClick={() => project.edit(withOverride(project.text(), packageName(node()), node().version!))}
        >
          Override
        </button>
      </Show>
      <button type="button" class="button" onClick={() => view.open('focus')}>
        Focus
      </button>
      <Show when={page()}>
        {(address) => (
          <a class="button" href={address()} target="_blank" rel="noopener noreferrer">
            Open on npm
          </a>
        )}
      </Show>
    </div>
  );
}
