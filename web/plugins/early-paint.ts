// Inlines everything that the first paint needs into the page. On a slow network, each further file
// would delay the first paint by half a second.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const theme = fileURLToPath(new URL('../public/theme.js', import.meta.url));

export function earlyPaint(): Plugin {
  return {
    name: 'espalier-early-paint',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle }) =>
        html
          .replace('<script src="./theme.js"></script>', () => `<script>${readFileSync(theme, 'utf8')}</script>`)
          .replace(/<link rel="stylesheet" crossorigin href="\.\/([^"]+)">/g, (link, file: string) => {
            const sheet = bundle?.[file];
            return sheet?.type === 'asset' ? `<style>${String(sheet.source)}</style>` : link;
          }),
    },
  };
}
