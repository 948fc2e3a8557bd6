import type { Remedy } from '../../model/remedies';
import { withChanges, withRange } from '../../model/manifest';
import { useSession, type Session } from '../../state/session';
import { putCaret } from '../manifest/caret';

export function RemedyButton(props: { remedy: Remedy }) {
  const session = useSession();
  return (
    <button type="button" class="button" onClick={() => apply(props.remedy, session)}>
      {words(props.remedy)}
    </button>
  );
}

function words(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'range':
      return `Ask for ${remedy.name}@${remedy.range}`;
    case 'changes':
      return remedy.changes.map(change).join(', and ');
    case 'flag':
      return remedy.flag === 'force' ? 'Resolve with --force' : 'Resolve with --legacy-peer-deps';
    case 'registry':
      return remedy.registry === 'embedded' ? 'Use the embedded registry' : 'Ask npm’s registry';
    case 'caret':
      return `Go to line ${remedy.line}`;
    case 'retry':
      return 'Try again';
  }
}

/** What a remedy means, if its button doesn't say it. */
export function effect(remedy: Remedy): string | undefined {
  if (remedy.kind !== 'flag') return undefined;
  return remedy.flag === 'force' ? 'accepts the conflict' : 'ignores peer dependencies, as npm 6 did';
}

function change(change: Extract<Remedy, { kind: 'changes' }>['changes'][number]): string {
  switch (change.kind) {
    case 'range':
      return `Ask for ${change.name}@${change.to}`;
    case 'override':
      return `Override ${change.name} of ${change.parent} with ${change.spec}`;
    case 'remove':
      return `Remove ${change.name}`;
  }
}

function apply(remedy: Remedy, { project, run }: Session): void {
  switch (remedy.kind) {
    case 'range':
      return project.edit(withRange(project.text(), remedy.name, remedy.range));
    case 'changes':
      return project.edit(withChanges(project.text(), remedy.changes));
    case 'flag':
      project.set({ [remedy.flag]: true });
      return;
    case 'registry':
      project.setRegistry(remedy.registry);
      return;
    case 'caret':
      return putCaret(remedy.line, remedy.column);
    case 'retry':
      return run.resolve();
  }
}
