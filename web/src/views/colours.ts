// The colours of the style sheet for a canvas.

const NAMES = [
  'paper',
  'paper-raised',
  'ink',
  'ink-soft',
  'line',
  'wire',
  'line-strong',
  'green',
  'green-wash',
  'ochre',
  'rust',
  'slate',
  'leaf',
  'faint',
  'step-1',
  'step-2',
  'step-3',
  'step-4',
  'step-5',
] as const;

export type Palette = Record<(typeof NAMES)[number], string> & { readonly mono: string };

/** The colours of the current theme. */
export function read(): Palette {
  const probe = document.createElement('span');
  document.body.append(probe);
  const colours = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.style.fontFamily = 'var(--mono)';
  const mono = getComputedStyle(probe).fontFamily;
  probe.remove();
  return { ...Object.fromEntries(colours), mono };
}
