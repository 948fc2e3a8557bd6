import { afterEach, beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('location', { search: '?play' });
  vi.stubGlobal('document', { hidden: false, baseURI: 'http://127.0.0.1:1/' });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Follows a program that answers (+) or doesn't (-), and returns the number of reported ends. */
async function follow(answers: string): Promise<number> {
  const { followPlayed } = await import('../src/state/played');
  const left = [...answers];
  const fetch = vi.fn(async () => {
    if (left.shift() !== '+') throw new TypeError('Failed to fetch');
    return new Response('1');
  });
  vi.stubGlobal('fetch', fetch);
  const gone = vi.fn();
  const { createRoot } = await import('solid-js');
  const stop = createRoot((dispose) => {
    followPlayed(() => '1', vi.fn(), gone);
    return dispose;
  });
  await vi.advanceTimersByTimeAsync(1_000 * answers.length);
  stop();
  expect(fetch.mock.calls.length).toBe(answers.length - left.length);
  return gone.mock.calls.length;
}

test('a program has stopped after two failures in a row', async () => {
  expect(await follow('+-+-++')).toBe(0);
  expect(await follow('+--')).toBe(1);
  // The end is reported once.
  expect(await follow('----')).toBe(1);
});
