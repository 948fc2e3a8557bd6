import { useSession } from '../../state/session';

export function NoResults() {
  const { view } = useSession();
  return (
    <div class="no-results">
      <p>
        Nothing in this tree matches <span class="mono">{view.query()}</span>.
      </p>
      <p class="soft">
        Words narrow each other. Besides names there are is:duplicated, is:deprecated, is:dev, is:optional, is:peer,
        is:nested, is:skipped, is:problem, and license: with a license’s name.
      </p>
      <button type="button" class="button" onClick={() => view.find('')}>
        Show everything
      </button>
    </div>
  );
}
