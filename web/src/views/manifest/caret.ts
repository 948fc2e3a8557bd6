// Lets other views put the caret where something is wrong, without knowing the editor.

import type { EditorView } from '@codemirror/view';

interface Caret {
  goTo(line: number, column: number): void;
}

let editor: Caret | undefined;

export function registerEditor(registered: Caret): void {
  editor = registered;
}

/** Line and column are counted from 1. */
export function putCaret(line: number, column: number): void {
  editor?.goTo(line, column);
}

export function goTo(view: EditorView, line: number, column: number): void {
  const { from, to } = view.state.doc.line(Math.min(line, view.state.doc.lines));
  view.dispatch({ selection: { anchor: Math.min(from + column - 1, to) }, scrollIntoView: true });
  view.focus();
}
