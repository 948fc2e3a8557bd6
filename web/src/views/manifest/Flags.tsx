import { useSession } from '../../state/session';

/** npm's switches that change which tree comes out. */
export function Flags() {
  const { project } = useSession();
  return (
    <fieldset class="choice">
      <legend>Flags</legend>
      <label class="mono">
        <input
          type="checkbox"
          checked={project.legacyPeerDeps()}
          onChange={(event) => project.setLegacyPeerDeps(event.currentTarget.checked)}
        />
        --legacy-peer-deps
      </label>
      <label class="mono">
        <input type="checkbox" checked={project.force()} onChange={(event) => project.setForce(event.currentTarget.checked)} />
        --force
      </label>
    </fieldset>
  );
}
