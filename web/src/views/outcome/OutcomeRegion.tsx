// The middle region: a sentence and the open view of the tree, the error of a failed run, or the
// samples.

import { lazy, Match, Show, Suspense, Switch } from 'solid-js';
import { useSession } from '../../state/session';
// The overview is not loaded on demand, because the start page shows one.
import { Overview } from '../overview/Overview';
import { TreeGrid } from '../tree/TreeGrid';
import { BesideBar } from '../beside/BesideBar';
import { Beginning } from './Beginning';
import { Changes } from './Changes';
import { Failure } from './Failure';
import { NoResults, NothingFound } from './NoResults';
import { Pin } from './Pin';
import { Results } from './Results';
import { Sentence } from './Sentence';
import { Tabs } from './Tabs';
import { Toolbar } from './Toolbar';
import './outcome.css';

const Focus = lazy(() => import('../focus/Focus').then((module) => ({ default: module.Focus })));
const TreeMap = lazy(() => import('../map/TreeMap').then((module) => ({ default: module.TreeMap })));
const PackageTable = lazy(() => import('../table/PackageTable').then((module) => ({ default: module.PackageTable })));
const Duplicates = lazy(() => import('../duplicates/Duplicates').then((module) => ({ default: module.Duplicates })));
const Health = lazy(() => import('../health/Health').then((module) => ({ default: module.Health })));
const Replay = lazy(() => import('../replay/Replay').then((module) => ({ default: module.Replay })));

/**
 * Views that show every package and highlight the matches of a filter. The others are empty if
 * nothing matches.
 */
const WHOLE = new Set(['overview', 'map', 'focus', 'duplicates', 'health', 'replay']);

export function OutcomeRegion() {
  const { run, view, beside } = useSession();
  const isNothingFound = () => view.matches()?.nodes.size === 0;
  const isEmpty = () => isNothingFound() && !WHOLE.has(view.name());
  return (
    <section class="region outcome" aria-label="Tree">
      <Switch>
        <Match when={run.phase() === 'failed' && run.error()}>{(error) => <Failure error={error()} />}</Match>
        <Match when={!run.tree()}>
          <Beginning />
        </Match>
        <Match when={run.tree()}>
          {(tree) => (
            <>
              <Sentence />
              <Show when={beside()}>
                <BesideBar />
              </Show>
              <Changes />
              <div class="outcome-bar">
                <Tabs />
                <Pin class="narrow" />
                <Toolbar />
              </div>
              <Results />
              <Show when={isNothingFound() && !isEmpty()}>
                <NothingFound />
              </Show>
              <div class="view" role="tabpanel" id="view" tabindex="-1" aria-labelledby={`tab-${view.name()}`}>
                <Suspense fallback={<p class="soft view-wait">Opening…</p>}>
                  <Show when={!isEmpty()} fallback={<NoResults />}>
                    <Switch fallback={<TreeGrid />}>
                      <Match when={view.name() === 'overview'}>
                        <Overview tree={tree()} />
                      </Match>
                      <Match when={view.name() === 'focus'}>
                        <Focus tree={tree()} />
                      </Match>
                      <Match when={view.name() === 'map'}>
                        <TreeMap tree={tree()} />
                      </Match>
                      <Match when={view.name() === 'table'}>
                        <PackageTable tree={tree()} />
                      </Match>
                      <Match when={view.name() === 'duplicates'}>
                        <Duplicates tree={tree()} />
                      </Match>
                      <Match when={view.name() === 'health'}>
                        <Health tree={tree()} />
                      </Match>
                      <Match when={view.name() === 'replay'}>
                        <Replay tree={tree()} />
                      </Match>
                    </Switch>
                  </Show>
                </Suspense>
              </div>
            </>
          )}
        </Match>
      </Switch>
    </section>
  );
}
