// Moves the focus between the regions.

/** Focuses the first element that a selector finds, and selects the text of a field. */
export function focus(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  element?.focus();
  if (element instanceof HTMLInputElement) element.select();
  return element !== null;
}

/**
 * Focuses the open view, or what has the keys in it. Without a view, the focus only leaves the
 * element that has it, so that the next keys are not typed into it.
 */
export function focusView(): void {
  if (focus('.view [tabindex="0"]') || focus('.view')) return;
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
