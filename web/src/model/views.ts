// The views of one tree, in the order of their tabs.

export const VIEWS = [
  ['overview', 'Overview'],
  ['tree', 'Tree'],
  ['focus', 'Focus'],
  ['map', 'Map'],
  ['table', 'Table'],
  ['duplicates', 'Duplicates'],
  ['health', 'Health'],
  ['replay', 'Replay'],
] as const;

export type ViewName = (typeof VIEWS)[number][0];

export const FIRST_VIEW: ViewName = 'overview';

export function isViewName(name: string | null): name is ViewName {
  return VIEWS.some(([known]) => known === name);
}
