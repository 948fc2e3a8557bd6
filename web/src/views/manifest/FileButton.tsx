import { take } from '../../state/intake';
import { useSession } from '../../state/session';

/** Opens files, for people who cannot drop them. */
export function FileButton() {
  const session = useSession();
  let input!: HTMLInputElement;
  const read = async () => {
    await take(session, input.files ?? []);
    input.value = '';
  };
  return (
    <>
      <button type="button" class="button" onClick={() => input.click()}>
        Open…
      </button>
      <input
        ref={input}
        type="file"
        multiple
        accept=".json,.zip,application/json,application/zip"
        hidden
        onChange={read}
      />
    </>
  );
}
