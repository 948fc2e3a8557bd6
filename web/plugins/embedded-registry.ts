// The embedded registry as static files: `registry/<name>` answers with the recorded packument. In
// development they are served from where they are, a build copies them, so that it needs no server of ours.

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
        // Asked for `@scope%2fname`, some servers look for that, and others for a file in a folder.
        for (const path of new Set([name, decodeURIComponent(name)])) {
          const target = join(dir!, PREFIX, path);
          mkdirSync(dirname(target), { recursive: true });
          cpSync(join(packuments, entry), target);
        }
      }
    },
  };
}

/** A name can't leave the folder: its slashes are written `%2f` there. */
function fileOf(packuments: string, name: string): string | undefined {
  const file = join(packuments, `${name.replaceAll('/', '%2f')}.json`);
  return existsSync(file) ? file : undefined;
}
