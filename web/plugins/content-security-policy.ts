// What the built page may do: its own scripts and wasm, any registry, and nothing else. What is dropped or linked is
// somebody else's; should any of it ever be taken for markup, no script in it runs.

import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

/** For a script that stands in the page itself. */
const policy = (script: string) => [
  "default-src 'none'",
  `script-src 'self' 'wasm-unsafe-eval' 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "worker-src 'self'",
  // The editor makes style sheets as it goes.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' blob: data:",
  // A registry may be anywhere.
  'connect-src *',
  "base-uri 'none'",
  "form-action 'none'",
];

export function contentSecurityPolicy(): Plugin {
  return {
    name: 'espalier-content-security-policy',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) => [
        {
          tag: 'meta',
          attrs: {
            'http-equiv': 'Content-Security-Policy',
            content: policy(/<script>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '').join('; '),
          },
          injectTo: 'head-prepend',
        },
      ],
    },
  };
}
