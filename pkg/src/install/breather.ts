// Interrupts long work on the page's thread now and then, so that the page stays responsive.

/** How long work goes on without a break, in milliseconds. */
const BREATH = 8;

export class Breather {
  #since = performance.now();

  /** Takes a break if it is time for one. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#since < BREATH) return;
    await turn();
    this.#since = performance.now();
  }
}

/** The next turn of the event loop. Unlike timers, messages aren't delayed in background tabs. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
