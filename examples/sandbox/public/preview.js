// Runs the bundle of the sandbox. The frame's origin is opaque, so this code cannot reach the page,
// its storage or its cache. It can only send messages.
// biome-ignore lint/suspicious/noRedundantUseStrict: the frame loads this as a classic script.
'use strict';

(() => {
  const tell = (message) => parent.postMessage(message, '*');

  // Otherwise, a site that opens this file in a window could run scripts in the page's own origin.
  if (self.origin !== 'null') {
    document.body.replaceChildren('The preview only runs inside the sandbox.');
    return;
  }

  addEventListener('error', ({ message }) => tell({ type: 'error', text: message }));
  addEventListener('unhandledrejection', ({ reason }) =>
    tell({ type: 'error', text: String(reason?.message ?? reason) }),
  );

  for (const level of ['log', 'info', 'warn', 'error']) {
    const native = console[level];
    console[level] = (...values) => {
      native(...values);
      tell({ type: level === 'error' || level === 'warn' ? level : 'log', text: values.map(shown).join(' ') });
    };
  }

  function shown(value) {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return value.stack ?? String(value);
    try {
      return JSON.stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  }

  addEventListener('message', ({ source, data }) => {
    if (source !== parent || data?.type !== 'run') return;
    const style = document.createElement('style');
    style.textContent = data.style;
    document.head.append(style);
    const script = URL.createObjectURL(new Blob([data.script], { type: 'text/javascript' }));
    import(script)
      .then(() => tell({ type: 'ran' }))
      .catch((error) => tell({ type: 'error', text: String(error?.message ?? error) }));
  });
  tell({ type: 'ready' });
})();
