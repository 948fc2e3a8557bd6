// What the built page may do: its own scripts and wasm, any registry, and nothing else. What is dropped or linked is
// somebody else's; should any of it ever be taken for markup, no script in it runs.

import type { Plugin } from 'vite';

const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  // The editor makes style sheets as it goes.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' blob: data:",
  // A registry may be anywhere.
  'connect-src *',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

export function contentSecurityPolicy(): Plugin {
  return {
    name: 'espalier-content-security-policy',
    apply: 'build',
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY },
        injectTo: 'head-prepend',
      },
    ],
  };
}
