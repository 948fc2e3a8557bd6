// The two sides of a peer conflict, beside each other if they fit.

import type { ConflictSide, PeerConflict } from '../../engine/types';
import { RequirerChain } from './RequirerChain';

export function Conflict(props: { conflict: PeerConflict }) {
  const side = (title: string, conflictSide: ConflictSide) => (
    <section>
      <h2>{title}</h2>
      <RequirerChain
        chain={conflictSide.chain}
        end={{
          name: props.conflict.name,
          code: conflictSide.version ?? conflictSide.spec,
          words: conflictSide.version === undefined ? 'cannot be met here' : '',
        }}
      />
    </section>
  );
  return (
    <div class="conflict">
      {side('Present version', props.conflict.current)}
      {side('Conflicting request', props.conflict.wanted)}
    </div>
  );
}
