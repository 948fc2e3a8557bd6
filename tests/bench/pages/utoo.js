// @utoo/web resolves with utoo's own algorithm and installs into the origin private file system.
import { input, measure } from './report.js';

const project = '/bench';

await measure(
  async () => {
    const [{ Project }, { default: workerUrl }, { default: threadWorkerUrl }, { default: wasmUrl }] = await Promise.all(
      [
        import('@utoo/web'),
        import('@utoo/web/esm/workerInline.js'),
        import('@utoo/web/esm/threadWorkerInline.js'),
        import('@utoo/web/esm/utoo/index_bg.wasm?url'),
      ],
    );
    const loaded = new Project({
      cwd: project,
      workerUrl,
      threadWorkerUrl,
      wasmUrl: new URL(wasmUrl, location.href).href,
    });
    await loaded.mount();
    await loaded.mkdir(project, { recursive: true });
    return loaded;
  },
  async (loaded) => {
    await loaded.writeFile(`${project}/package.json`, input.manifest);
    const lockfile = await loaded.deps({ registry: input.registry });
    await loaded.install(lockfile);
    return { packages: Object.keys(JSON.parse(lockfile).packages).length - 1 };
  },
);
