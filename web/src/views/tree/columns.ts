// The columns of the tree.

import type { Order } from '../../model/rows';
import type { ColumnSpec } from '../../state/columns';

export const COLUMNS = [
  { name: 'package', words: 'Package', width: 150 },
  { name: 'version', words: 'Version', width: 84 },
  { name: 'wanted', words: 'Wanted', about: 'The range that the dependent asks for', width: 100, from: 480 },
  { name: 'kind', words: 'Kind', width: 68, from: 760 },
  {
    name: 'only',
    words: 'Only',
    about: 'The number of packages that would go with it, including itself',
    width: 52,
  },
  {
    name: 'reaches',
    words: 'Reaches',
    about: 'The number of packages that it needs, directly or through others',
    width: 68,
    from: 600,
  },
  // Below this width, names need the room more, and notes are beside them.
  { name: 'notes', words: 'Notes', width: 112, from: 880 },
] as const satisfies readonly ColumnSpec[];
export type ColumnName = (typeof COLUMNS)[number]['name'];
export type TreeColumn = ColumnSpec & { readonly name: ColumnName };
/** The sortable columns, and whether they start with the largest value. */
export const FIRST: Partial<Record<ColumnName, Order>> = {
  package: { by: 'package', descending: false },
  only: { by: 'only', descending: true },
  reaches: { by: 'reaches', descending: true },
};
