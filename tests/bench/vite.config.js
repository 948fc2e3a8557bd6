// One page for each installer, built as an app would be.
import { resolve } from 'node:path';
import { readdirSync } from 'node:fs';
import { nodePolyfills } from 'vite-plugin-node-polyfills';

const pages = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.html'));

export default {
  base: './',
  // npm-in-browser's file system wants Node's modules.
  plugins: [nodePolyfills()],
  worker: { format: 'es' },
  build: {
    target: 'esnext',
    modulePreload: { polyfill: false },
    rollupOptions: { input: pages.map((page) => resolve(import.meta.dirname, page)) },
  },
};
