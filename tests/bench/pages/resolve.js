// The page of resolve.js, which carries out one task after another.

import { resolve } from '/espalier/index.js';
import { createWorkerClient } from '/espalier/worker.js';

/** The number of concurrent requests, as in Espalier. */
const AT_ONCE = 128;

const works = {
  /** Resolves, in a worker. */
  async resolve({ origin, manifest, flags, cache, snapshot }) {
    const created = performance.now();
    const client = createWorkerClient();
    await client.resolve({ manifest: '{}', registry: `${origin}/` }).result;
    const start = performance.now();
    const startup = (start - created) / 1000;
    const file = snapshot && { snapshot: new URL(snapshot, location.href) };
    const resolution = client.resolve({ manifest, ...flags, cache, ...file, registry: `${origin}/` });
    let tree = 0;
    for await (const batch of resolution.batches()) {
      if (batch.some(({ type }) => type === 'settled')) tree = (performance.now() - start) / 1000;
    }
    const { lockfile, statistics } = await resolution.result;
    const seconds = (performance.now() - start) / 1000;
    client.terminate();
    return { seconds, tree, startup, lockfile, requests: statistics.requests };
  },

  /** Only fetches, in a worker. A document with `after` waits for the first of those documents. */
  async fetch({ documents }) {
    const work = async (atOnce) => {
      const { data } = await new Promise((told) => addEventListener('message', told, { once: true }));
      const start = performance.now();
      const followers = data.map(() => []);
      for (const [index, { after }] of data.entries()) for (const one of after ?? []) followers[one].push(index);
      const ready = [...data.keys()].filter((index) => !data[index].after?.length);
      const named = new Set(ready);
      let underWay = 0;
      await new Promise((done, failed) => {
        const fetchOne = async (index) => {
          const { url, accept } = data[index];
          await (await fetch(url, { headers: { accept } })).arrayBuffer();
          underWay--;
          for (const follower of followers[index].filter((one) => !named.has(one))) {
            named.add(follower);
            ready.push(follower);
          }
          fetchMore();
        };
        const fetchMore = () => {
          for (; underWay < atOnce && ready.length > 0; underWay++) fetchOne(ready.shift()).catch(failed);
          if (underWay === 0) done();
        };
        fetchMore();
      });
      if (named.size < data.length) throw new Error(`${data.length - named.size} documents were never named`);
      postMessage((performance.now() - start) / 1000);
    };
    const script = `(${work})(${AT_ONCE}).catch((error) => postMessage({ error: String(error) }))`;
    const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
    worker.postMessage(documents);
    const seconds = await new Promise((told, failed) => {
      worker.addEventListener('message', ({ data }) => (data.error ? failed(new Error(data.error)) : told(data)));
      worker.addEventListener('error', failed);
    });
    worker.terminate();
    return { seconds };
  },

  /** The requests of a resolution that the registry answered, in their order. */
  async record({ origin, manifest, flags }) {
    const requests = [];
    const recording = (url, init) => {
      const request = { url, accept: init.headers.accept ?? '*/*' };
      const answer = fetch(url, init);
      requests.push(answer.then(({ ok }) => (ok ? [request] : [])).catch(() => []));
      return answer;
    };
    await resolve({ manifest, ...flags, registry: `${origin}/`, fetch: recording }).result;
    return { documents: (await Promise.all(requests)).flat() };
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
