// The text of package.json, in CodeMirror.

import { history, defaultKeymap, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, linter, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { createEffect, onCleanup, onMount } from 'solid-js';
import { faults } from '../../model/manifest';
import { useSession } from '../../state/session';
import { goTo, registerEditor } from './caret';
import { highlighting, theme } from './theme';

export function Editor() {
  const { project } = useSession();
  let parent!: HTMLDivElement;

  onMount(() => {
    const view = new EditorView({ parent, state: EditorState.create({ doc: project.text(), extensions: extensions(project.edit) }) });
    registerEditor({ goTo: (line, column) => goTo(view, line, column) });
    createEffect(() => {
      const text = project.text();
      // What was typed here comes back as it is; only what came from elsewhere replaces the text.
      if (text !== view.state.doc.toString()) {
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, scrollIntoView: true });
      }
    });
    onCleanup(() => view.destroy());
  });
  return <div ref={parent} class="editor" />;
}

function extensions(edit: (text: string) => void) {
  return [
    lineNumbers(),
    history(),
    drawSelection(),
    bracketMatching(),
    highlightActiveLine(),
    indentUnit.of('  '),
    json(),
    linter((view) => diagnostics(view.state.doc.toString()), { delay: 200 }),
    lintGutter(),
    placeholder('Paste or drop a package.json'),
    syntaxHighlighting(highlighting),
    theme,
    EditorView.contentAttributes.of({ 'aria-label': 'package.json', tabindex: '0' }),
    // Tab is left to the browser, so that the keyboard never gets caught in here.
    keymap.of([...defaultKeymap.filter((binding) => binding.key !== 'Mod-Enter'), ...historyKeymap]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) edit(update.state.doc.toString());
    }),
  ];
}

function diagnostics(text: string): Diagnostic[] {
  if (text.trim() === '') return [];
  return faults(text).map(({ from, to, message }) => ({ from, to, message, severity: 'error' }));
}
