// The editor's theme in the page's own colours, so that it follows the theme of the page.

import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'transparent', color: 'var(--ink)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '24px' },
  '.cm-content': { padding: 'var(--unit) 0', caretColor: 'var(--ink)' },
  // Long lines scroll below the line numbers.
  '.cm-gutters': {
    backgroundColor: 'var(--paper)',
    color: 'var(--ink-soft)',
    border: 'none',
    fontSize: 'var(--small)',
  },
  '.cm-lineNumbers .cm-gutterElement': { paddingRight: '12px' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--paper-raised)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent' },
  '& ::selection': { background: 'var(--mark)' },
  '.cm-matchingBracket': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'transparent', outline: '1px solid var(--line-strong)' },
  '.cm-placeholder': { color: 'var(--ink-soft)' },
  '.cm-fault': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--rust)',
    textUnderlineOffset: '3px',
  },
});

/** Names are dark and values are soft. Punctuation stays in the background. */
export const highlighting = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--ink)' },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: 'var(--slate)' },
  { tag: tags.punctuation, color: 'var(--ink-soft)' },
]);
