// The page of resolve.js, which carries out one task after another.

import { resolve } from '/espalier/index.js';
import { createWorkerClient } from '/espalier/worker.js';

/** The number of concurrent requests, as in Espalier. */
const AT_ONCE = 128;

const works = {
  /** Resolves, in a worker. */
  async resolve({ origin, manifest, flags, cache, snapshot }) {
    const client = createWorkerClient();
    await client.resolve({ manifest: '{}', registry: `${origin}/` }).result;
    const start = performance.now();
    const file = snapshot && { snapshot: new URL(snapshot, location.href) };
    const resolution = client.resolve({ manifest, ...flags, cache, ...file, registry: `${origin}/` });
    let tree = 0;
    for await (const batch of resolution.batches()) {
      if (batch.some(({ type }) => type === 'settled')) tree = (performance.now() - start) / 1000;
    }
    const { lockfile, statistics } = await resolution.result;
    const seconds = (performance.now() - start) / 1000;
    client.terminate();
    return { seconds, tree, lockfile, requests: statistics.requests };
  },

  /** Only fetches, in a worker. */
  async fetch({ documents }) {
    const work = async (atOnce) => {
      const { data } = await new Promise((told) => addEventListener('message', told, { once: true }));
      const start = performance.now();
      let next = 0;
      const fetchSome = async () => {
        while (next < data.length) {
          const { url, accept } = data[next++];
          await (await fetch(url, { headers: { accept } })).arrayBuffer();
        }
      };
      await Promise.all(Array.from({ length: atOnce }, fetchSome));
      postMessage((performance.now() - start) / 1000);
    };
    const worker = new Worker(URL.createObjectURL(new Blob([`(${work})(${AT_ONCE})`], { type: 'text/javascript' })));
    worker.postMessage(documents);
    const seconds = await new Promise((told) => worker.addEventListener('message', ({ data }) => told(data)));
    worker.terminate();
    return { seconds };
  },

  /** The requests of a resolution, in its order. */
  async record({ origin, manifest, flags }) {
    const documents = [];
    const recording = (url, init) => {
      documents.push({ url, accept: init.headers.accept ?? '*/*' });
      return fetch(url, init);
    };
    await resolve({ manifest, ...flags, registry: `${origin}/`, fetch: recording }).result;
    return { documents };
  },

  async reload() {
    setTimeout(() => location.reload());
    return {};
  },
};

for (let work; work?.type !== 'reload'; ) {
  work = await (await fetch('/-/work')).json();
  const told = await works[work.type](work).catch((error) => ({ error: String(error?.stack ?? error) }));
  await fetch('/-/told', { method: 'POST', body: JSON.stringify(told) });
}
