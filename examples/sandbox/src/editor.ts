// The editor of the open file, made with CodeMirror. Each file has its own history and selection.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { css } from '@codemirror/lang-css';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'transparent', color: 'var(--ink)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '24px' },
  '.cm-content': { padding: 'var(--unit) 0', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-soft)', border: 'none', fontSize: 'var(--small)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--green-wash)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'transparent', outline: '1px solid var(--line-strong)' },
});

/** Names and values have a strong colour, punctuation a soft one. */
const highlighting = HighlightStyle.define([
  { tag: [tags.string, tags.number, tags.bool, tags.null, tags.attributeValue], color: 'var(--slate)' },
  { tag: [tags.keyword, tags.modifier, tags.tagName], color: 'var(--green)' },
  { tag: [tags.punctuation, tags.comment, tags.angleBracket], color: 'var(--ink-soft)' },
]);

export class Editor {
  readonly #view: EditorView;
  readonly #states = new Map<string, EditorState>();
  readonly #changed: (file: string, text: string) => void;
  #file: string | undefined;

  constructor(parent: HTMLElement, changed: (file: string, text: string) => void) {
    this.#changed = changed;
    this.#view = new EditorView({ parent });
  }

  /** Shows a file. `text` is its content when it is shown for the first time. */
  open(file: string, text: string): void {
    if (this.#file) this.#states.set(this.#file, this.#view.state);
    this.#file = file;
    this.#view.setState(this.#states.get(file) ?? this.#fresh(file, text));
  }

  /** Replaces a file's text, wherever it is shown. */
  replace(file: string, text: string): void {
    if (file === this.#file) {
      const { state } = this.#view;
      if (state.doc.toString() !== text)
        this.#view.dispatch({ changes: { from: 0, to: state.doc.length, insert: text } });
    } else {
      const state = this.#states.get(file);
      if (state)
        this.#states.set(file, state.update({ changes: { from: 0, to: state.doc.length, insert: text } }).state);
    }
  }

  #fresh(file: string, text: string): EditorState {
    return EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        indentUnit.of('  '),
        language(file),
        syntaxHighlighting(highlighting),
        theme,
        EditorView.contentAttributes.of({ 'aria-label': file, tabindex: '0' }),
        // As usual in CodeMirror, Escape and then Tab leaves the editor.
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.#changed(file, update.state.doc.toString());
        }),
      ],
    });
  }
}

function language(file: string) {
  if (file.endsWith('.json')) return json();
  return file.endsWith('.css') ? css() : javascript({ jsx: true });
}
