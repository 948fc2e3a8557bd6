// The two chains that collide, side by side where there is room.

import type { ConflictSide, PeerConflict } from '../../engine/types';
import { RequirerChain } from './RequirerChain';

export function Conflict(props: { conflict: PeerConflict }) {
  const side = (title: string, conflictSide: ConflictSide) => (
    <section>
      <h2>{title}</h2>
      <RequirerChain
        chain={conflictSide.chain}
        end={{ name: props.conflict.name, words: conflictSide.version ?? `${conflictSide.spec} can’t be met here` }}
      />
    </section>
  );
  return (
    <div class="conflict">
      {side('In place', props.conflict.current)}
      {side('Wanted as well', props.conflict.wanted)}
    </div>
  );
}
