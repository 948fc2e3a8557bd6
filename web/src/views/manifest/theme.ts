// The editor in the page's own colours, so that it follows the theme by itself.

import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'transparent', color: 'var(--ink)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '24px' },
  '.cm-content': { padding: 'var(--unit) 0', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-soft)', border: 'none', fontSize: 'var(--small)' },
  '.cm-gutter-lint': { width: '12px' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--paper-raised)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--green-wash)',
  },
  '.cm-matchingBracket': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'transparent', outline: '1px solid var(--line-strong)' },
  '.cm-placeholder': { color: 'var(--ink-soft)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--rust)',
    textUnderlineOffset: '3px',
  },
  '.cm-lint-marker-error': { content: '""', width: '6px', height: '6px', margin: '9px 3px', background: 'var(--rust)', borderRadius: '50%' },
  '.cm-tooltip': { backgroundColor: 'var(--paper)', border: '1px solid var(--line-strong)', color: 'var(--ink)' },
  '.cm-diagnostic-error': { borderLeft: '2px solid var(--rust)', fontFamily: 'var(--sans)' },
});

/** Names are ink, values are soft: the ranges are what is read, the punctuation isn't. */
export const highlighting = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--ink)' },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: 'var(--slate)' },
  { tag: tags.punctuation, color: 'var(--ink-soft)' },
]);
