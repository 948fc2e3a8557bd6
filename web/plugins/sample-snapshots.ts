// The samples' snapshots: `snapshots/<name>` holds every document that the sample's resolution asks the embedded registry for, as
// `espalier snapshot` writes them, so that a sample begins with one request. The documents' addresses are relative to the snapshot.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const PREFIX = 'snapshots/';
/** Stands for wherever the page will be. */
const REGISTRY = 'http://registry.test/registry/';
const TYPE = 'application/json';

/** `recording` has the projects beside their packuments. */
export function sampleSnapshots(recording: string): Plugin {
  return {
    name: 'espalier-sample-snapshots',
    configureServer(server) {
      server.middlewares.use(`/${PREFIX}`, async (request, response) => {
        const name = new URL(request.url ?? '/', 'http://localhost').pathname.slice(1);
        if (samples(recording).includes(name)) response.end(await snapshot(recording, name));
        else response.writeHead(404).end();
      });
    },
    async generateBundle() {
      for (const name of samples(recording)) {
        this.emitFile({ type: 'asset', fileName: `${PREFIX}${name}`, source: await snapshot(recording, name) });
      }
    },
  };
}

function samples(recording: string): string[] {
  return readdirSync(join(recording, 'projects'));
}

/** Resolves a sample and keeps what it asked for, in the order of asking. A sample that can't be resolved needs documents as well. */
async function snapshot(recording: string, name: string): Promise<Buffer> {
  const manifest = readFileSync(join(recording, 'projects', name, 'package.json'), 'utf8');
  const documents = new Map<string, { accept: string; body: Buffer }>();
  const answer = async (url: string, init?: { headers?: Record<string, string> }) => {
    const path = url.slice(REGISTRY.length);
    const file = join(recording, 'packuments', `${path}.json`);
    if (!existsSync(file)) return new Response(undefined, { status: 404 });
    const body = readFileSync(file);
    documents.set(path, { accept: init?.headers?.accept ?? '*/*', body });
    return new Response(body, { headers: { 'content-type': TYPE } });
  };
  // Only a build or a page needs it, and tests of the model run without.
  const { resolve } = await import('espalier');
  await resolve({ manifest, registry: REGISTRY, fetch: answer }).result.catch((error: { code?: string }) => {
    if (error.code !== 'ERESOLVE') throw error;
  });
  const head = {
    snapshot: 1,
    documents: Array.from(documents, ([path, { accept, body }]) => ({
      address: `../registry/${path}`,
      accept,
      // A recording stays as it is.
      final: true,
      contentType: TYPE,
      date: 0,
      freshUntil: 0,
      length: body.length,
    })),
  };
  const bodies = Array.from(documents.values(), ({ body }) => body);
  return gzipSync(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...bodies]), { level: 9 });
}
