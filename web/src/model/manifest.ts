// A package.json that may be incomplete, because somebody is typing it: its errors, its name, and
// edits that keep its layout.

import {
  applyEdits,
  findNodeAtLocation,
  modify,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import type { Change as AnyChange } from '../engine/types';

export interface Fault {
  readonly message: string;
  /** Offsets into the text. */
  readonly from: number;
  readonly to: number;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
}

type Change = Exclude<AnyChange, { kind: 'flag' }>;

const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

const MESSAGES: Record<string, string> = {
  InvalidSymbol: 'this is not a JSON value',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a name in double quotes is expected here',
  ValueExpected: 'a value is expected here',
  ColonExpected: 'a colon is missing here',
  CommaExpected: 'a comma is missing here',
  CloseBraceExpected: 'a closing brace is missing here',
  CloseBracketExpected: 'a closing bracket is missing here',
  EndOfFileExpected: 'the text should have ended before this',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfComment: 'JSON has no comments',
  UnexpectedEndOfString: 'the closing quote is missing',
  UnexpectedEndOfNumber: 'this number is not finished',
  InvalidUnicode: 'this is not a Unicode escape',
  InvalidEscapeCharacter: 'this escape does not exist in JSON',
  InvalidCharacter: 'this character has to be escaped',
};

/** The errors of the text, in the order of their positions. */
export function faults(text: string): Fault[] {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  const found = errors.map(({ error, offset, length }) =>
    fault(text, MESSAGES[printParseErrorCode(error)] ?? 'this is not JSON', offset, length),
  );
  if (found.length > 0 || !root) return found;
  if (root.type !== 'object') return [fault(text, 'a package.json is an object', root.offset, root.length)];
  return DEPENDENCIES.flatMap((key) => dependencyFaults(text, key, findNodeAtLocation(root, [key])));
}

/** `name` and `version`, as far as they can be read. */
export function identity(text: string): { name?: string; version?: string } {
  const root = parseTree(text);
  const read = (key: string): string | undefined => {
    const value: unknown = root && findNodeAtLocation(root, [key])?.value;
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [name, version] = [read('name'), read('version')];
  return { ...(name ? { name } : {}), ...(version ? { version } : {}) };
}

/** Changes the range of a direct dependency. Without such a dependency, the text stays as it is. */
export function withRange(text: string, name: string, range: string): string {
  const root = parseTree(text);
  const key = DEPENDENCIES.find((candidate) => root && findNodeAtLocation(root, [candidate, name]));
  return key ? applyEdits(text, modify(text, [key, name], range, {})) : text;
}

/**
 * Makes the changes of a remedy. If the parent's override is a string, it becomes the rule `.` of
 * an object.
 */
export function withChanges(text: string, changes: readonly Change[]): string {
  return changes.reduce((edited, change) => {
    switch (change.kind) {
      case 'range':
        return set(edited, [change.block, change.name], change.to);
      case 'remove':
        return set(edited, [change.block, change.name], undefined);
      case 'override': {
        const path = ['overrides', change.parent];
        const root = parseTree(edited);
        const own: unknown = root && findNodeAtLocation(root, path)?.value;
        const beside = typeof own === 'string' ? set(edited, path, { '.': own }) : edited;
        return set(beside, [...path, change.name], change.spec);
      }
    }
  }, text);
}

/**
 * Overrides a package with one version. npm requires that the project's own range agrees, so it
 * changes too.
 */
export function withOverride(text: string, name: string, version: string): string {
  const root = parseTree(text);
  const block = DEPENDENCIES.find((candidate) => root && findNodeAtLocation(root, [candidate, name]));
  const direct = block ? set(text, [block, name], version) : text;
  return set(direct, ['overrides', name], version);
}

/** Removes a direct dependency from every block that has it. */
export function withoutDependency(text: string, name: string): string {
  const root = parseTree(text);
  const blocks = DEPENDENCIES.filter((block) => root && findNodeAtLocation(root, [block, name]));
  return blocks.reduce((edited, block) => set(edited, [block, name], undefined), text);
}

function set(text: string, path: string[], value: unknown): string {
  const indentation = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  ';
  const formattingOptions = { insertSpaces: !indentation.startsWith('\t'), tabSize: indentation.length };
  return applyEdits(text, modify(text, path, value, { formattingOptions }));
}

function dependencyFaults(text: string, key: string, node: Node | undefined): Fault[] {
  if (!node) return [];
  if (node.type !== 'object') return [fault(text, `${key} has to be an object`, node.offset, node.length)];
  return (node.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? [];
    if (key?.value === '') return [fault(text, 'a dependency has to have a name', key.offset, key.length)];
    return value && value.type !== 'string' ? [fault(text, 'a range is a string', value.offset, value.length)] : [];
  });
}

function fault(text: string, message: string, offset: number, length: number): Fault {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  return { message, from: offset, to: Math.min(text.length, offset + Math.max(1, length)), line, column };
}
