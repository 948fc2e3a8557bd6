// Reads files, folders and zips from a person. A package.json is resolved, from its lockfile if
// there is one, and with the package.json files of its workspaces. Other files are not read.

import { manifestOfLock, packagesOfLock } from '../model/compare';
import { membersOf } from '../model/archive';
import { parseRequest } from '../model/request';
import type { Session } from './session';

/** A file's path and text. */
type Texts = Map<string, string>;

const MOST_FILES = 2_000;

export async function take(session: Session, files: Iterable<File>): Promise<void> {
  const texts: Texts = new Map();
  try {
    for (const file of files) await read(file, file.webkitRelativePath || file.name, texts);
    hand(session, texts);
  } catch (error) {
    session.setNotice(`This can’t be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/**
 * The dropped files, including those in folders. The entries are only available during the event.
 */
export async function takeDropped(session: Session, data: DataTransfer): Promise<void> {
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const plain = [...data.files];
  if (!entries.some((entry) => entry.isDirectory)) return take(session, plain);
  const texts: Texts = new Map();
  for (const entry of entries) await walk(entry, texts);
  hand(session, texts);
}

/** Handles text from the field of the start page. Returns an error message for invalid text. */
export function ask(session: Session, input: string): string | undefined {
  const request = parseRequest(input);
  switch (request.kind) {
    case 'manifest':
      session.begin(request.text);
      return undefined;
    case 'lock':
      session.begin(manifestOfLock(request.text)!, request.text);
      return undefined;
    case 'unclear':
      return request.message;
    case 'nothing':
      return 'Type package names, or paste a package.json.';
  }
}

function hand(session: Session, texts: Texts): void {
  const root = rootOf([...texts.keys()]);
  const files = Object.fromEntries(
    [...texts].flatMap(([path, text]) => (path.startsWith(root) ? [[path.slice(root.length), text]] : [])),
  );
  const lockPath = ['npm-shrinkwrap.json', 'package-lock.json'].find((path) => files[path] !== undefined);
  const named = lockPath && files[lockPath];
  // A file with another name is a manifest or a lockfile, depending on its content.
  const lock = named ?? Object.values(files).find((text) => packagesOfLock(text) !== undefined);
  const manifest =
    files['package.json'] ?? Object.values(files).find((text) => text !== lock && text.trim().startsWith('{'));
  const text = manifest ?? (lock && manifestOfLock(lock));
  if (text === undefined) {
    session.setNotice('There is no package.json and no package-lock.json in what you dropped.');
    return;
  }
  const others = Object.entries(files).filter(([path]) => path.endsWith('/package.json'));
  session.begin(text, lock, others.length > 0 ? Object.fromEntries(others) : undefined);
}

/** The project's folder: that of the uppermost package.json or lockfile. */
function rootOf(paths: readonly string[]): string {
  const folders = paths.map((path) => path.slice(0, path.lastIndexOf('/') + 1));
  return folders.sort((a, b) => a.split('/').length - b.split('/').length)[0] ?? '';
}

function isWanted(path: string): boolean {
  return /(?:^|\/)(?:package|package-lock|npm-shrinkwrap)\.json$/.test(path) && !path.includes('node_modules/');
}

async function read(file: File, path: string, texts: Texts): Promise<void> {
  if (!/\.zip$/i.test(file.name)) {
    texts.set(path, await file.text());
    return;
  }
  for (const member of membersOf(new Uint8Array(await file.arrayBuffer()), isWanted).slice(0, MOST_FILES)) {
    texts.set(member.path, await member.text());
  }
}

async function walk(entry: FileSystemEntry, texts: Texts): Promise<void> {
  if (texts.size >= MOST_FILES || entry.name === 'node_modules' || entry.name === '.git') return;
  const path = entry.fullPath.slice(1);
  if (entry.isFile && isWanted(path)) {
    const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
    texts.set(path, await file.text());
  }
  if (!entry.isDirectory) return;
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader returns up to a hundred entries at a time, and none at the end.
  for (let more = await next(reader); more.length > 0; more = await next(reader)) {
    for (const child of more) await walk(child, texts);
  }
}

function next(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  return new Promise((done, fail) => reader.readEntries(done, fail));
}
