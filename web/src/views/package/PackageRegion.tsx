// Right: the selected package; without one, the project.

import { createMemo, Match, Show, Switch } from 'solid-js';
import { answer } from '../../model/tree';
import { useSession } from '../../state/session';
import { PackageCard } from './PackageCard';
import { ProjectCard } from './ProjectCard';
import './package.css';

export function PackageRegion() {
  const { run, view } = useSession();
  const selected = createMemo(() => {
    // The root is the project, which is shown where nothing is selected.
    const location = view.selected();
    return location ? run.tree()?.at.get(location) : undefined;
  });
  // A row that nothing answers selects no package, but has something to say.
  const unanswered = createMemo(() => {
    const row = view.rows()[view.activeIndex()];
    return row && row.edge !== -1 && answer(run.tree()!, row.edge) === -1 ? run.tree()!.edges[row.edge] : undefined;
  });
  const isShown = () => run.tree() && run.phase() !== 'idle' && run.phase() !== 'failed';
  return (
    <section class="region package" aria-label="Package" tabindex="-1">
      <Show when={isShown()} fallback={<p class="soft package-empty">Here stands why a package is in the tree, once there is one.</p>}>
        <Switch fallback={<ProjectCard tree={run.tree()!} />}>
          <Match when={unanswered()}>
            {(edge) => (
              <p class="package-empty">
                Nothing here answers <span class="mono">{edge().name}@{edge().spec}</span>.
              </p>
            )}
          </Match>
          <Match when={selected()}>{(node) => <PackageCard tree={run.tree()!} node={node()} />}</Match>
        </Switch>
      </Show>
    </section>
  );
}
