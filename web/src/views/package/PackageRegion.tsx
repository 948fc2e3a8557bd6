// The right region: the selected package, or the project without a selection.

import { createMemo, Match, Show, Switch } from 'solid-js';
import { answer } from '../../model/tree';
import { useSession } from '../../state/session';
import { Splitter } from '../frame/Splitter';
import { Missing } from './Missing';
import { PackageCard } from './PackageCard';
import { ProjectCard } from './ProjectCard';
import './package.css';

export function PackageRegion() {
  const { run, view, panes } = useSession();
  const selected = createMemo(() => {
    // The root is the project, which is shown without a selection.
    const location = view.selected();
    return location ? run.tree()?.at.get(location) : undefined;
  });
  // A row without a package selects none, but explains its problem.
  const unanswered = createMemo(() => {
    const row = view.rows()[view.activeIndex()];
    return row && row.edge !== -1 && answer(run.tree()!, row.edge) === -1 ? run.tree()!.edges[row.edge] : undefined;
  });
  const isShown = () => run.tree() && run.phase() !== 'idle' && run.phase() !== 'failed';
  const nothing = () =>
    run.phase() === 'failed'
      ? 'The resolution failed, so there are no packages to select.'
      : 'Once the project is resolved, this is where you see why a package is installed.';
  return (
    <section class="region package" aria-label="Package" tabindex="-1">
      <button type="button" class="plain rail" onClick={() => panes.setClosed('right', false)}>
        Package
      </button>
      <Splitter side="right" />
      <button
        type="button"
        class="plain region-close package-close"
        aria-label="Close the package"
        onClick={() => panes.setClosed('right', true)}
      >
        »
      </button>
      <div class="package-scroll">
        <Show when={isShown()} fallback={<p class="soft package-empty">{nothing()}</p>}>
          <Switch fallback={<ProjectCard tree={run.tree()!} />}>
            <Match when={unanswered()}>
              {(edge) => (
                <p class="package-empty">
                  <span class="mono">
                    {edge().name}@{edge().spec}
                  </span>{' '}
                  is asked for, but nothing in the tree meets it.
                </p>
              )}
            </Match>
            <Match when={view.missing()}>{(location) => <Missing tree={run.tree()!} location={location()} />}</Match>
            <Match when={selected()}>{(node) => <PackageCard tree={run.tree()!} node={node()} />}</Match>
          </Switch>
        </Show>
      </div>
    </section>
  );
}
