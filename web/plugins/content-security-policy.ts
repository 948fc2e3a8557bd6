// The content security policy of the built page: its own scripts and wasm, any registry, and
// nothing else. Dropped and linked projects are foreign input. If a bug ever treated a part of them
// as markup, no script in it would run.

import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

/** The hash of an inline script. */
const policy = (script: string) => [
  "default-src 'none'",
  `script-src 'self' 'wasm-unsafe-eval' 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "worker-src 'self'",
  // The editor adds style sheets while it runs.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' blob: data:",
  // A registry can be at any address.
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
