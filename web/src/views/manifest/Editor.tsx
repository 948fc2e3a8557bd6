// The text of package.json, in CodeMirror.

import { history, historyKeymap, standardKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { createEffect, onCleanup, onMount } from 'solid-js';
import { faults } from '../../model/manifest';
import { useSession } from '../../state/session';
import { goTo, registerEditor } from './caret';
import { highlighting, theme } from './theme';

export function Editor() {
  const { project } = useSession();
  let parent!: HTMLDivElement;

  onMount(() => {
    const view = new EditorView({
      parent,
      state: EditorState.create({
        doc: project.text(),
        extensions: extensions((text) => text !== project.text() && project.edit(text, true)),
      }),
    });
    // The syntax is highlighted after the text appears, in a separate task.
    const reading = setTimeout(() => view.dispatch({ effects: StateEffect.appendConfig.of(language) }));
    onCleanup(() => clearTimeout(reading));
    registerEditor({ goTo: (line, column) => goTo(view, line, column) });
    createEffect(() => {
      const text = project.text();
      // Typed text comes back unchanged. Only text from elsewhere replaces the editor's.
      if (text !== view.state.doc.toString()) {
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      }
    });
    onCleanup(() => view.destroy());
  });
  return <div ref={parent} class="editor" />;
}

function extensions(edit: (text: string) => unknown) {
  return [
    lineNumbers(),
    history(),
    bracketMatching(),
    highlightActiveLine(),
    indentUnit.of('  '),
    placeholder('Paste or drop a package.json'),
    theme,
    EditorView.contentAttributes.of({ 'aria-label': 'package.json', tabindex: '0' }),
    // The browser handles Tab, so that the keyboard can leave the editor.
    keymap.of([...standardKeymap.filter((binding) => binding.key !== 'Mod-Enter'), ...historyKeymap]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) edit(update.state.doc.toString());
    }),
  ];
}

/** A text is invalid most of the time while it is typed, so it is checked after a pause. */
const PAUSE = 200;
const mark = StateEffect.define<DecorationSet>();
const marks = StateField.define<DecorationSet>({
  create: (state) => faultsIn(state.doc.toString()),
  update: (old, transaction) =>
    transaction.effects.find((effect) => effect.is(mark))?.value ?? old.map(transaction.changes),
  provide: (field) => EditorView.decorations.from(field),
});
let waiting: number | undefined;
const marked = [
  marks,
  EditorView.updateListener.of(({ docChanged, view }) => {
    if (!docChanged) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (view.dom.isConnected) view.dispatch({ effects: mark.of(faultsIn(view.state.doc.toString())) });
    }, PAUSE);
  }),
];
const language = [json(), marked, syntaxHighlighting(highlighting)];

/** Underlines errors. Their messages are below the editor. */
function faultsIn(text: string): DecorationSet {
  if (text.trim() === '') return Decoration.none;
  const found = faults(text).filter(({ from, to }) => to > from && to <= text.length);
  return Decoration.set(
    found.map(({ from, to, message }) =>
      Decoration.mark({ class: 'cm-fault', attributes: { title: message } }).range(from, to),
    ),
    true,
  );
}
