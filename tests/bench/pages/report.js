// What every page has in common: it runs once, and tells its own figures, because what drives the browser slows it down.

const parameters = new URLSearchParams(location.search);

/** The project and its registry, as the driver wants them. */
export const input = {
  manifest: await (await fetch(parameters.get('manifest'))).text(),
  registry: parameters.get('registry'),
  flags: parameters.getAll('flag'),
};

/**
 * Runs `load`, which makes the installer ready, and `install`, which gives the number of files that are there in the end.
 * Milliseconds count from the moment at which the page asks for the installer's code.
 */
export async function measure(load, install) {
  // The longest that this page's thread was ever busy without a break; the browser tells of more than 50 ms only.
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
    // What everything of this page holds, workers included, after a collection of garbage.
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
