import { defineConfig } from 'vite';

export default defineConfig({
  // Relative addresses: a build runs from any folder of any static server.
  base: './',
  optimizeDeps: { exclude: ['espalier'] },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false },
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
