// The embedded registry as static files: `registry/<name>` is the recorded packument. The
// development server serves the recorded files, and a build copies them, so that any static host
// can serve the page.

import { cpSync, createReadStream, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

const PREFIX = '/registry/';

export function embeddedRegistry(packuments: string): Plugin {
  return {
    name: 'espalier-embedded-registry',
    configureServer(server) {
      server.middlewares.use(PREFIX, (request, response) => {
        const file = fileOf(
          packuments,
          decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname.slice(1)),
        );
        if (!file) {
          response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
          return;
        }
        response.writeHead(200, { 'content-type': 'application/json' });
        createReadStream(file).pipe(response);
      });
    },
    writeBundle({ dir }) {
      for (const entry of readdirSync(packuments)) {
        const name = entry.replace(/\.json$/, '');
        // For `@scope%2fname`, some servers look for a file of that name, others for a file in a
        // folder.
        for (const path of new Set([name, decodeURIComponent(name)])) {
          const target = join(dir!, PREFIX, path);
          mkdirSync(dirname(target), { recursive: true });
          cpSync(join(packuments, entry), target);
        }
      }
    },
  };
}

/** A name cannot lead out of the folder, because its slashes become `%2f`. */
function fileOf(packuments: string, name: string): string | undefined {
  const file = join(packuments, `${name.replaceAll('/', '%2f')}.json`);
  return existsSync(file) ? file : undefined;
}
