// The keys of a treegrid, according to the ARIA practices, and type-ahead.

import type { Row } from '../../model/rows';
import type { Tree } from '../../model/tree';
import type { View } from '../../state/view';
import { title } from '../words';

/**
 * Letters that are shortcuts of the page. Within a name, or with Shift, they are part of the name.
 */
const TAKEN = 'cdefmortuw';
const TYPING_PAUSE = 700;

export function createTreeKeys(view: View, tree: () => Tree | undefined, page: () => number) {
  let typed = '';
  let typedAt = -Infinity;

  const typeahead = (letter: string, now: number) => {
    typed = now - typedAt < TYPING_PAUSE ? typed + letter : letter;
    typedAt = now;
    const rows = view.rows();
    const start = Math.max(0, view.activeIndex());
    // The active row may match a name that is still being typed.
    const first = typed.length > 1 ? 0 : 1;
    for (let step = first; step <= rows.length; step += 1) {
      const index = (start + step) % rows.length;
      if (nameOf(tree(), rows[index]!).toLowerCase().startsWith(typed)) return view.activate(index);
    }
  };

  const move = (key: string, index: number, row: Row): boolean => {
    switch (key) {
      case 'ArrowDown':
        view.activate(index + 1);
        break;
      case 'ArrowUp':
        view.activate(index - 1);
        break;
      case 'PageDown':
        view.activate(index + page());
        break;
      case 'PageUp':
        view.activate(index - page());
        break;
      case 'Home':
        view.activate(0);
        break;
      case 'End':
        view.activate(Infinity);
        break;
      case 'ArrowRight':
        if (row.open === false) view.toggle(row, true);
        else if (row.open) view.activate(index + 1);
        break;
      case 'ArrowLeft':
        if (row.open) view.toggle(row, false);
        else view.activateParent();
        break;
      case '*':
        view.openBeside(row);
        break;
      case 'Enter':
      case ' ':
        if (row.deduped) view.jump(row);
        else view.toggle(row, !row.open);
        break;
      default:
        return false;
    }
    return true;
  };

  return (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const index = Math.max(0, view.activeIndex());
    const row = view.rows()[index];
    if (!row) return;
    const typing = event.timeStamp - typedAt < TYPING_PAUSE;
    if (isLetter(event.key) && (typing || !TAKEN.includes(event.key))) {
      typeahead(event.key.toLowerCase(), event.timeStamp);
      event.preventDefault();
    } else if (move(event.key, index, row)) {
      event.preventDefault();
    }
  };
}

function isLetter(key: string): boolean {
  return /^[a-z@_-]$/i.test(key);
}

function nameOf(tree: Tree | undefined, row: Row): string {
  return tree?.edges[row.edge]?.name ?? title(tree?.nodes[row.node]);
}
