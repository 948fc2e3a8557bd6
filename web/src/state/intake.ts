// Files that a person hands in: a package.json to resolve, a package-lock.json to compare with.

import { batch } from 'solid-js';
import { manifestOfLock, packagesOfLock } from '../model/compare';
import type { Session } from './session';

export async function take(session: Session, files: Iterable<File>): Promise<void> {
  const texts = await Promise.all([...files].map((file) => file.text()));
  const lock = texts.find((text) => packagesOfLock(text) !== undefined);
  const manifest = texts.find((text) => text !== lock);
  // A lockfile alone says what it was made for; beside a package.json it is only compared with.
  const isAlone = lock !== undefined && session.project.text().trim() === '';
  const text = manifest ?? (isAlone ? manifestOfLock(lock) : undefined);
  batch(() => {
    session.setReference(lock);
    if (text === undefined) return;
    session.view.reset();
    session.project.edit(text);
  });
}
