import { useSession } from '../../state/session';
import { Download } from './Download';
import { Search } from './Search';

export function Toolbar() {
  const { view } = useSession();
  return (
    <div class="toolbar">
      <Search />
      <button class="button wide-only" onClick={() => view.setAllOpen(true)}>
        Open all
      </button>
      <button class="button wide-only" onClick={() => view.setAllOpen(false)}>
        Close all
      </button>
      <Download />
    </div>
  );
}
