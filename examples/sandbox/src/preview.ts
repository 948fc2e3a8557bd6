// The frame that runs the app. Its sandbox has no `allow-same-origin`, so it has an opaque origin,
// and installed code cannot read this page's storage, cache or tokens. Each run gets a new
// document.

/** A message of the app. */
export interface Message {
  type: 'log' | 'warn' | 'error' | 'ran';
  text?: string;
}

export class Preview {
  readonly #parent: HTMLElement;
  #frame: HTMLIFrameElement | undefined;

  constructor(parent: HTMLElement, said: (message: Message) => void) {
    this.#parent = parent;
    addEventListener('message', ({ source, data }) => {
      // All opaque origins are the same string, so the window identifies the sender.
      if (!this.#frame || source !== this.#frame.contentWindow) return;
      if (['log', 'warn', 'error', 'ran'].includes(data?.type)) said(data);
    });
  }

  async run(code: { script: string; style: string }): Promise<void> {
    const frame = document.createElement('iframe');
    frame.title = 'Preview';
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.src = './preview.html';
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    this.#frame?.remove();
    this.#frame = frame;
    this.#parent.append(frame);
    await loaded;
    // The target's origin is opaque, so no narrower origin can be named.
    frame.contentWindow?.postMessage({ type: 'run', ...code }, '*');
  }
}
