// Reads the package.json and lockfiles in a zip. An archive is untrusted: only the directory at its
// end is believed, and only wanted members are inflated, up to a size that no such file has.

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const MOST_BYTES = 64 << 20;
const MOST_ENTRIES = 200_000;

export interface Member {
  readonly path: string;
  text(): Promise<string>;
}

/** The members with wanted paths. Throws if the file is no readable zip. */
export function membersOf(bytes: Uint8Array<ArrayBuffer>, isWanted: (path: string) => boolean): Member[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endOf(view);
  const members: Member[] = [];
  const entries = Math.min(view.getUint16(end + 10, true), MOST_ENTRIES);
  let at = view.getUint32(end + 16, true);
  for (let index = 0; index < entries && view.getUint32(at, true) === ENTRY; index += 1) {
    const method = view.getUint16(at + 10, true);
    const [packed, size] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)];
    const [name, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true)) as [
      number,
      number,
      number,
    ];
    const start = view.getUint32(at + 42, true);
    const path = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name));
    if (isWanted(path) && size <= MOST_BYTES)
      members.push({ path, text: () => inflate(bytes, view, start, packed, method) });
    at += 46 + name + extra + comment;
  }
  return members;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>, view: DataView, start: number, packed: number, method: number) {
  const body = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
  const blob = new Blob([bytes.subarray(body, body + packed)]);
  if (method === 0) return blob.text();
  if (method !== 8) throw new Error('the zip is packed in a way that this page can’t read');
  const reader = blob.stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    size += piece.value.length;
    if (size > MOST_BYTES) throw new Error('a file in the zip is larger than any package.json');
    pieces.push(piece.value as Uint8Array<ArrayBuffer>);
  }
  return new Blob(pieces).text();
}

/** The end of the directory is the last record, before a comment of at most 64 KB. */
function endOf(view: DataView): number {
  for (let at = view.byteLength - 22; at >= Math.max(0, view.byteLength - 22 - 0xffff); at -= 1) {
    if (view.getUint32(at, true) === END) return at;
  }
  throw new Error('this is not a zip');
}
