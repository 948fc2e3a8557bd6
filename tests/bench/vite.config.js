// Builds one page for each installer, as an app would be built.
import { resolve } from 'node:path';
import { readdirSync } from 'node:fs';
import { nodePolyfills } from 'vite-plugin-node-polyfills';

const pages = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.html'));

export default {
  base: './',
  // The file system of npm-in-browser needs modules of Node.
  plugins: [nodePolyfills()],
  worker: { format: 'es' },
  build: {
    target: 'esnext',
    modulePreload: { polyfill: false },
    rollupOptions: { input: pages.map((page) => resolve(import.meta.dirname, page)) },
  },
};
