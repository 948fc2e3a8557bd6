import { For } from 'solid-js';

/** A text with the first occurrence of each word highlighted. */
export function Marked(props: { text: string; words: readonly string[] }) {
  return (
    <For each={pieces(props.text, props.words)}>
      {(piece) => (piece.marked ? <mark>{piece.text}</mark> : piece.text)}
    </For>
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
  ];
}
