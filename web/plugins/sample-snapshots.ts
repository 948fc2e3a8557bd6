// The snapshots of the samples. `snapshots/<name>` has the format of `espalier snapshot` and
// contains every document that the resolution of the sample requests from the embedded registry. So
// a sample needs one request. The addresses of the documents are relative to the snapshot.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const PREFIX = 'snapshots/';
/** A placeholder for the address of the page. */
const REGISTRY = 'http://registry.test/registry/';
const TYPE = 'application/json';

/** `recording` is the folder with the projects and their packuments. */
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

/** A packument, or the document of a version, which is a part of the packument. */
function document(recording: string, path: string): Buffer<ArrayBuffer> | undefined {
  const [name, version] = path.split('/');
  const file = join(recording, 'packuments', `${name}.json`);
  if (!existsSync(file)) return undefined;
  const packument = readFileSync(file);
  if (!version) return packument;
  const manifest = JSON.parse(packument.toString()).versions[version];
  return manifest && Buffer.from(JSON.stringify(manifest));
}

/** Resolves a sample and records its requests in their order, also if the resolution fails. */
async function snapshot(recording: string, name: string): Promise<Buffer> {
  const manifest = readFileSync(join(recording, 'projects', name, 'package.json'), 'utf8');
  const documents = new Map<string, { accept: string; body: Buffer }>();
  const answer = async (url: string, init?: { headers?: Record<string, string> }) => {
    const path = url.slice(REGISTRY.length);
    const body = document(recording, path);
    if (!body) return new Response(undefined, { status: 404 });
    documents.set(path, { accept: init?.headers?.accept ?? '*/*', body });
    return new Response(body, { headers: { 'content-type': TYPE } });
  };
  // Only a build or the page needs the wasm. Tests of the model run without it.
  const { resolve } = await import('espalier');
  await resolve({ manifest, registry: REGISTRY, fetch: answer }).result.catch((error: { code?: string }) => {
    if (error.code !== 'ERESOLVE') throw error;
  });
  const head = {
    snapshot: 1,
    documents: Array.from(documents, ([path, { accept, body }]) => ({
      address: `../registry/${path}`,
      accept,
      // A recording does not change.
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
