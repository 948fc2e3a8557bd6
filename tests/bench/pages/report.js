// The common part of all pages. A page runs once and reports its own figures, because a driver
// slows the browser down.

const parameters = new URLSearchParams(location.search);

/** The project and its registry, according to the driver. */
export const input = {
  manifest: await (await fetch(parameters.get('manifest'))).text(),
  registry: parameters.get('registry'),
  flags: parameters.getAll('flag'),
};

/**
 * Runs `load`, which prepares the installer, and `install`, which returns the number of installed
 * files. Times start when the page requests the installer's code.
 */
export async function measure(load, install) {
  // The longest task of this page's thread. The browser reports only tasks of more than 50 ms.
  let longest = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  });
  observer.observe({ entryTypes: ['longtask'] });
  try {
    const start = performance.now();
    const loaded = await load();
    const ready = performance.now() - start;
    const counts = await install(loaded);
    const done = performance.now() - start;
    // The memory of this page and its workers after a garbage collection.
    const memory = await performance.measureUserAgentSpecificMemory?.();
    await tell({ ready, done, longest, memory: memory?.bytes, ...counts });
  } catch (error) {
    await tell({ error: `${error?.code ?? ''} ${error?.stack ?? error}` });
  }
}

async function tell(figures) {
  await fetch('/figures', { method: 'POST', body: JSON.stringify(figures) });
}

addEventListener('unhandledrejection', ({ reason }) => tell({ error: String(reason?.stack ?? reason) }));
