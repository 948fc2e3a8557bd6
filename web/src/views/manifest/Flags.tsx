// npm's switches that change the tree, the platform, and the day to resolve as of.

import { createSignal, For, Show } from 'solid-js';
import { FLAGS } from '../../model/address';
import { useSession } from '../../state/session';

const PLATFORMS = [
  ['', 'Linux, x64'],
  ['linux-arm64-glibc', 'Linux, arm64'],
  ['linux-x64-musl', 'Alpine, x64'],
  ['darwin-arm64', 'macOS, arm64'],
  ['darwin-x64', 'macOS, x64'],
  ['win32-x64', 'Windows, x64'],
] as const;

const DAY = 86_400_000;
const WEEK = 7;
/** The range of the slider in days: five years of whole weeks, so that its end is today. */
const DAYS = 5 * 52 * WEEK;

export function Flags() {
  const { project } = useSession();
  const settings = project.settings;
  const changed = () =>
    FLAGS.filter(([key]) => settings()[key]).length +
    [settings().before, settings().platform, settings().node].filter(Boolean).length;
  return (
    <details class="what-if" open={changed() > 0}>
      <summary>
        What if… <Show when={changed() > 0}>{<span class="soft">{changed()} set</span>}</Show>
      </summary>
      <fieldset class="choice">
        <legend>Flags</legend>
        <For each={FLAGS}>
          {([key, word]) => (
            <label class="mono">
              <input
                type="checkbox"
                checked={settings()[key]}
                onChange={(event) => project.set({ [key]: event.currentTarget.checked })}
              />
              --{word}
            </label>
          )}
        </For>
      </fieldset>
      <div class="choice">
        <label class="what-if-field">
          <span class="soft">Platform</span>
          <select
            class="field"
            value={settings().platform ?? ''}
            onChange={(event) => project.set({ platform: event.currentTarget.value || undefined })}
          >
            <For each={PLATFORMS}>
              {([value, words]) => (
                <option value={value} selected={(settings().platform ?? '') === value}>
                  {words}
                </option>
              )}
            </For>
          </select>
        </label>
        <label class="what-if-field">
          <span class="soft">Node</span>
          <input
            class="field mono"
            type="text"
            inputmode="decimal"
            placeholder="20.20.2"
            pattern="\d+\.\d+\.\d+"
            title="a version with three numbers: 22.11.0"
            value={settings().node ?? ''}
            onChange={(event) =>
              event.currentTarget.reportValidity() && project.set({ node: event.currentTarget.value || undefined })
            }
          />
        </label>
      </div>
      <Before />
    </details>
  );
}

/** A slider that resolves the tree as of a day. */
function Before() {
  const { project } = useSession();
  const today = Date.now();
  const day = (back: number) => new Date(today - back * DAY).toISOString().slice(0, 10);
  const back = () => {
    const { before } = project.settings();
    return before ? Math.max(0, Math.min(DAYS, Math.round((today - Date.parse(before)) / DAY))) : 0;
  };
  const [moving, setMoving] = createSignal<number | undefined>();
  const shown = () => moving() ?? back();
  return (
    <div class="choice">
      <label class="before">
        <span class="soft">As of</span>
        <output class="mono">{shown() === 0 ? 'today' : day(shown())}</output>
        <input
          type="range"
          min="0"
          max={DAYS}
          step={WEEK}
          aria-label="Resolve as of a day in the past"
          aria-valuetext={shown() === 0 ? 'today' : day(shown())}
          value={DAYS - shown()}
          onInput={(event) => setMoving(DAYS - event.currentTarget.valueAsNumber)}
          onChange={(event) => {
            const next = DAYS - event.currentTarget.valueAsNumber;
            setMoving(undefined);
            project.set({ before: next < 1 ? undefined : day(next) });
          }}
        />
      </label>
    </div>
  );
}
