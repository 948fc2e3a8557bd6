import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import solid from 'vite-plugin-solid';
import { contentSecurityPolicy } from './plugins/content-security-policy.ts';
import { earlyPaint } from './plugins/early-paint.ts';
import { embeddedRegistry } from './plugins/embedded-registry.ts';
import { sampleSnapshots } from './plugins/sample-snapshots.ts';

const recording = fileURLToPath(new URL('../tests/registry', import.meta.url));

export default defineConfig({
  // Relative addresses: a build runs from any folder of any static server.
  base: './',
  // Without this every unknown address would answer with the page, also those of packages that
  // don't exist.
  appType: 'mpa',
  plugins: [
    solid(),
    embeddedRegistry(`${recording}/packuments`),
    sampleSnapshots(recording),
    earlyPaint(),
    contentSecurityPolicy(),
  ],
  // Its worker and its wasm are found by `new URL(…, import.meta.url)`, which pre-bundling would
  // break.
  optimizeDeps: { exclude: ['espalier'] },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false },
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  // The tests are pure, so one process runs all files. Thirty processes take longer to start than
  // to test, and fail if one does not start in time on a busy machine. The default limit of five
  // seconds fails tests there, too; this one only ends a test that hangs.
  test: { include: ['tests/**/*.test.ts'], environment: 'node', isolate: false, testTimeout: 120_000 },
});
