// The Share menu: links, pictures and files for other tools.

import { createSignal, For, onCleanup, onMount, Show } from 'solid-js';
import { colour } from '../../model/colour';
import { espalier } from '../../model/espalier';
import { cycloneDx, graphJson, importMap, markdown, spdx } from '../../model/exports';
import { caption, svg } from '../../model/picture';
import type { Tree } from '../../model/tree';
import { EMBEDDED } from '../../state/project';
import { useSession } from '../../state/session';
import { paint } from '../overview/paint';
import { read } from '../colours';
import './share.css';

const ASPECT = 1.6;
const PICTURE = { width: 1600, height: 1000, footer: 48 };

export function Share() {
  const { run, project, beside } = useSession();
  const isLocked = () => [project, beside()?.project].some((one) => one?.inputs().lockfile !== undefined);
  const [said, setSaid] = createSignal<string | undefined>();
  let menu!: HTMLDetailsElement;
  let summary!: HTMLElement;
  const tree = () => run.tree()!;
  const stamp = () => ({ time: new Date().toISOString(), id: crypto.randomUUID() });
  const isReady = () => run.result() !== undefined && run.phase() === 'done';

  const copy = async (text: string, words: string) => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(words);
    } catch {
      setSaid('The browser doesn’t let this page use the clipboard.');
    }
  };
  const save = (name: string, content: Blob | string, type = 'application/json') => {
    const address = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    setSaid(`Saved ${name}`);
  };
  const items: readonly (readonly [words: string, about: string, act: () => unknown])[] = [
    ['Copy the link', 'the project, what is selected, and the view', () => copy(location.href, 'Copied the link')],
    ['Copy a summary', 'Markdown, for an issue', () => copy(markdown(tree(), location.href), 'Copied the summary')],
    ['Picture', 'PNG', async () => save('espalier.png', await png(tree()), 'image/png')],
    ['Drawing', 'SVG', () => save('espalier.svg', drawing(tree()), 'image/svg+xml')],
    ['package-lock.json', 'byte for byte as npm writes it', () => save('package-lock.json', run.result()!.lockfile)],
    ['Graph', 'JSON: all packages and their dependencies', () => save('graph.json', graphJson(tree()))],
    ['CycloneDX', 'a bill of materials', () => save('bom.cdx.json', cycloneDx(tree(), stamp()))],
    ['SPDX', 'a bill of materials', () => save('bom.spdx.json', spdx(tree(), stamp()))],
    ['Import map', 'for a server of node_modules', () => save('importmap.json', importMap(tree()))],
  ];
  const close = (event: Event) => {
    if (event instanceof KeyboardEvent ? event.key === 'Escape' && menu.open : !menu.contains(event.target as Node)) {
      if (event instanceof KeyboardEvent) {
        event.preventDefault();
        summary.focus();
      }
      menu.open = false;
    }
  };
  onMount(() => {
    window.addEventListener('pointerdown', close);
    window.addEventListener('keydown', close, true);
  });
  onCleanup(() => {
    window.removeEventListener('pointerdown', close);
    window.removeEventListener('keydown', close, true);
  });
  return (
    <details ref={menu} class="share" onToggle={() => setSaid(undefined)}>
      <summary ref={summary} class="button">
        Share
      </summary>
      <div class="share-menu">
        <Show when={isReady()} fallback={<p class="soft">You can share the tree once it is complete.</p>}>
          <ul>
            <For each={items}>
              {([words, about, act]) => (
                <li>
                  <button type="button" class="plain share-item" onClick={() => void act()}>
                    <span>{words}</span> <span class="soft">{about}</span>
                  </button>
                </li>
              )}
            </For>
          </ul>
          <Show when={project.registry() === EMBEDDED}>
            <p class="soft share-note">The embedded registry has no host, so npm can’t install from this lockfile.</p>
          </Show>
          <Show when={isLocked()}>
            <p class="soft share-note">
              The link contains no lockfile, because most lockfiles are too long for a chat or a browser. Whoever opens
              the link resolves package.json without one{beside() ? ', for A and for B' : ''}.
            </p>
          </Show>
          <p class="green" role="status">
            {said()}
          </p>
        </Show>
      </div>
    </details>
  );
}

function drawing(tree: Tree): string {
  return svg(tree, espalier(tree, ASPECT), colour(tree, 'kind'), { ...read() });
}

/** The overview with its caption, at twice the size of a screen's pixels. */
function png(tree: Tree): Promise<Blob> {
  const { width, height, footer } = PICTURE;
  const canvas = Object.assign(document.createElement('canvas'), { width: width * 2, height: height * 2 });
  const context = canvas.getContext('2d')!;
  context.scale(2, 2);
  const layout = espalier(tree, ASPECT);
  const { left, right, top, bottom } = layout.bounds;
  const scale = Math.min(2, (width - 96) / (right - left), (height - 64 - footer) / (bottom - top));
  const palette = read();
  paint(context, {
    tree,
    layout,
    coloured: colour(tree, 'kind'),
    palette,
    camera: {
      scale,
      x: width / 2 - ((left + right) / 2) * scale,
      y: (height - footer) / 2 - ((top + bottom) / 2) * scale,
    },
    width,
    height,
    selected: undefined,
    found: undefined,
    diff: undefined,
    present: undefined,
    moving: false,
  });
  context.font = `16px ${palette.mono}`;
  context.textAlign = 'center';
  context.fillStyle = palette['ink-soft'];
  context.fillText(caption(tree), width / 2, height - footer / 2);
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error('no picture'))), 'image/png'),
  );
}
