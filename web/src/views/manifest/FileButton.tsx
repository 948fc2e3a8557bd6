import { useSession } from '../../state/session';

/** For those who have no mouse to drop a file with. */
export function FileButton() {
  const { project, view } = useSession();
  let input!: HTMLInputElement;
  const read = async () => {
    const text = await input.files?.[0]?.text();
    input.value = '';
    if (text === undefined) return;
    view.reset();
    project.edit(text);
  };
  return (
    <>
      <button class="button" onClick={() => input.click()}>
        Open…
      </button>
      <input ref={input} type="file" accept=".json,application/json" hidden onChange={read} />
    </>
  );
}
