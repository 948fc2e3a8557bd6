import { For, Show } from 'solid-js';

/**
 * A text with the first occurrence of each word highlighted. If there is no room for all of it, the
 * rest is cut off before the highlight is.
 */
export function Marked(props: { text: string; words: readonly string[] }) {
  const parts = () => pieces(props.text, props.words);
  return (
    <Show when={parts().some(({ marked }) => marked)} fallback={props.text}>
      <span class="marked">
        <For each={parts()}>
          {(part) => (
            <Show when={part.marked} fallback={<span classList={{ long: part.text.length > 1 }}>{part.text}</span>}>
              <mark>{part.text}</mark>
            </Show>
          )}
        </For>
      </span>
    </Show>
  );
}

function pieces(text: string, words: readonly string[]): { text: string; marked: boolean }[] {
  const word = words.find((candidate) => text.toLowerCase().includes(candidate));
  if (!word) return [{ text, marked: false }];
  const at = text.toLowerCase().indexOf(word);
  return [
    { text: text.slice(0, at), marked: false },
    { text: text.slice(at, at + word.length), marked: true },
    { text: text.slice(at + word.length), marked: false },
  ].filter((piece) => piece.text !== '');
}
