// The frame that runs the app. Its sandbox gives it an origin of its own, without `allow-same-origin`: what was installed
// can't read this page's storage, cache or tokens. Each run gets a new document.

/** What the app says. */
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
      // An opaque origin is the same string for everybody, so it is the window that counts.
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
    // The target's origin is opaque; there is no narrower one to name.
    frame.contentWindow?.postMessage({ type: 'run', ...code }, '*');
  }
}
