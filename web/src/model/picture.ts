// The overview as a self-contained SVG for a README, a talk or an issue.

import type { Coloured } from './colour';
import { isGraft } from './colour';
import { totals } from './analysis';
import type { Espalier } from './espalier';
import { bytes, counted } from './format';
import { packagesOf, type Tree } from './tree';

export type Paints = Readonly<Record<string, string>>;

const MARGIN = 40;
const FOOTER = 48;

export function svg(tree: Tree, layout: Espalier, coloured: Coloured, paints: Paints): string {
  const { x, y, bounds, wires, order, parent, level } = layout;
  const [width, height] = [bounds.right - bounds.left + 2 * MARGIN, bounds.bottom - bounds.top + 2 * MARGIN + FOOTER];
  const at = (value: number) => String(Math.round(value * 10) / 10);
  const top = Math.min(0, ...wires.filter(({ limb }) => limb === -1).map((wire) => wire.y));
  const wirePath = wires
    .map(({ y: height, from, to, limb }) => {
      const bend = level * 0.5 * Math.sign(to || 1);
      const start =
        limb === -1
          ? `M0 ${at(height + Math.abs(bend))}L${at(bend)} ${at(height)}`
          : `M${at(from)} ${at(height + level)}L${at(from + bend * 0.6)} ${at(height)}`;
      return `${start}H${at(to)}`;
    })
    .join('');
  const limbs = new Set(wires.map(({ limb }) => limb));
  const branches = order
    .filter((node) => parent[node]! > 0 && !limbs.has(parent[node]!))
    .map((node) => {
      const [x0, y0, x1, y1] = [x[parent[node]!]!, y[parent[node]!]!, x[node]!, y[node]!];
      const chamfer = Math.min(Math.abs(x1 - x0), Math.abs(y1 - y0) * 0.5) * Math.sign(x1 - x0);
      const side = chamfer === 0 ? '' : `H${at(x1 - chamfer)}L${at(x1)} ${at(y0 - Math.abs(chamfer))}`;
      return `M${at(x0)} ${at(y0)}${side}V${at(y1)}`;
    })
    .join('');
  const leaves = coloured.classes.map(({ colour }, index) => {
    const shapes = order
      .filter((node) => node > 0 && coloured.of[node] === index)
      .map((node) => {
        const title = `<title>${escaped(tree.nodes[node]!.name)} ${escaped(tree.nodes[node]!.version ?? '')}</title>`;
        if (!isGraft(tree.nodes[node]!.location))
          return `<path d="M${at(x[node]!)} ${at(y[node]! + 4)}c6-1.2 4.4-6.8 0-10-4.4 3.2-6 8.8 0 10z">${title}</path>`;
        return `<path d="M${at(x[node]!)} ${at(y[node]! - 6)}l6 6-6 6-6-6z">${title}</path>`;
      });
    return shapes.length === 0 ? '' : `<g fill="${paints[colour]}">${shapes.join('')}</g>`;
  });
  const names = order
    .filter((node) => parent[node] === 0 || (layout.pitch >= 44 && node > 0))
    .map((node) => {
      const isLeft = x[node]! < 0;
      return `<text x="${at(x[node]! + (isLeft ? -7 : 7))}" y="${at(y[node]! - 6)}"${isLeft ? ' text-anchor="end"' : ''}>${escaped(tree.nodes[node]!.name)}</text>`;
    });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${at(bounds.left - MARGIN)} ${at(bounds.top - MARGIN)} ${at(width)} ${at(height)}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="10">`,
    `<title>${escaped(caption(tree))}</title>`,
    `<rect x="${at(bounds.left - MARGIN)}" y="${at(bounds.top - MARGIN)}" width="${at(width)}" height="${at(height)}" fill="${paints.paper}"/>`,
    `<g fill="none" stroke-linecap="round" stroke-linejoin="round"><path stroke="${paints.wire}" d="${branches}"/>`,
    `<path stroke="${paints['line-strong']}" stroke-width="1.6" d="${wirePath}"/>`,
    `<path stroke="${paints['line-strong']}" stroke-width="4" d="M0 0V${at(top + level * 0.5)}"/></g>`,
    ...leaves,
    `<circle r="6" fill="${paints.ink}"/>`,
    `<g fill="${paints.ink}" stroke="${paints.paper}" stroke-width="3" paint-order="stroke">${names.join('')}</g>`,
    `<text x="0" y="${at(bounds.bottom + FOOTER)}" text-anchor="middle" font-size="14" fill="${paints['ink-soft']}">${escaped(caption(tree))}</text>`,
    '</svg>\n',
  ].join('');
}

/** The caption of a picture. */
export function caption(tree: Tree): string {
  const { bytes: weight } = totals(tree);
  return `${tree.nodes[0]!.name}: ${counted(packagesOf(tree).length, 'package')}${weight > 0 ? `, ${bytes(weight)} unpacked` : ''} · espalier`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
