import { useSession } from '../../state/session';
import { focusView } from '../frame/focus';

/** A line for views that show every package, whether or not it matches. */
export function NothingFound() {
  const { view } = useSession();
  const showAll = useShowAll();
  return (
    <p class="nothing-found">
      Nothing in this tree matches <span class="mono">{view.query()}</span>.{' '}
      <button type="button" class="link" onClick={showAll}>
        Show everything
      </button>
    </p>
  );
}

export function NoResults() {
  const { view } = useSession();
  const showAll = useShowAll();
  return (
    <div class="no-results">
      <p>
        Nothing in this tree matches <span class="mono">{view.query()}</span>.
      </p>
      <p class="soft">
        Every word has to match. Besides names, you can search for is:direct, is:duplicated, is:deprecated, is:dev,
        is:optional, is:peer, is:nested, is:scripts, is:skipped, is:problem, and license: with the name of a license.
      </p>
      <button type="button" class="button" onClick={showAll}>
        Show everything
      </button>
    </div>
  );
}

/** Ends the search. The button that does goes with it, so the view has the keys. */
function useShowAll(): () => void {
  const { view } = useSession();
  return () => {
    view.find('');
    focusView();
  };
}
