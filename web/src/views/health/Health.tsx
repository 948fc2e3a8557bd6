// The findings about the packages. A click on a finding filters every view by it.

import { createMemo, For, Show } from 'solid-js';
import { NODE } from '../../model/address';
import { questions } from '../../model/facts';
import { count, counted } from '../../model/format';
import { health, type Finding } from '../../model/health';
import { toggleWord } from '../../model/search';
import { licenses } from '../../model/summary';
import type { Tree } from '../../model/tree';
import { EMBEDDED } from '../../state/project';
import { useSession } from '../../state/session';
import { Sign } from '../Sign';
import { title } from '../words';
import { Advisories } from './Advisories';
import './health.css';

const FIRST = 12;

export function Health(props: { tree: Tree }) {
  const { view, project, lookup } = useSession();
  const findings = createMemo(() => health(props.tree, project.settings().node ?? NODE, lookup.known()));
  const bad = () => findings().filter(({ nodes }) => nodes.length > 0);
  const isKnown = ({ needs }: Finding) => !needs || (lookup.isWanted(needs) && lookup.waiting() === 0);
  const fine = () => findings().filter((finding) => finding.nodes.length === 0 && isKnown(finding));
  const isOn = (word: string) => view.query().split(/\s+/).includes(word);
  return (
    <div class="health">
      <For each={bad()}>
        {(finding) => (
          <section class="finding" aria-label={finding.title}>
            <h2>
              <span class={finding.isBad ? 'rust' : ''}>{counted(finding.nodes.length, ...finding.words)}</span>
              <Show when={finding.query}>
                {(query) => (
                  <button
                    type="button"
                    class="chip"
                    aria-pressed={isOn(query())}
                    onClick={() => view.find(toggleWord(view.query(), query()))}
                  >
                    {isOn(query()) ? 'Filtering' : 'Filter by this'}
                  </button>
                )}
              </Show>
            </h2>
            <p class="soft">{finding.about}</p>
            <Packages tree={props.tree} finding={finding} />
          </section>
        )}
      </For>
      <Lookups tree={props.tree} />
      <Advisories tree={props.tree} />
      <section class="finding" aria-label="Licenses">
        <h2>Licenses</h2>
        <ul class="license-list">
          <For each={licenses(props.tree)}>
            {([license, number]) => {
              const word = () => `license:${license.toLowerCase().replaceAll(' ', '-')}`;
              return (
                <li>
                  <button
                    type="button"
                    class="chip"
                    aria-pressed={isOn(word())}
                    onClick={() => view.find(toggleWord(view.query(), word()))}
                  >
                    {license} <span class="soft">{count(number)}</span>
                  </button>
                </li>
              );
            }}
          </For>
        </ul>
      </section>
      <Show when={fine().length > 0}>
        <p class="soft finding">
          Nothing found:{' '}
          {fine()
            .map(({ title }) => title.replace(/^[A-Z]/, (letter) => letter.toLowerCase()))
            .join(', ')}
          .
        </p>
      </Show>
    </div>
  );
}

const SUBJECTS = [
  ['dates', 'publish dates'],
  ['modules', 'ESM, CommonJS and types'],
] as const;

/** Facts that are only in documents of the registry. They are requested on demand. */
function Lookups(props: { tree: Tree }) {
  const { lookup, project } = useSession();
  const open = () =>
    SUBJECTS.filter(
      ([subject]) => !lookup.isWanted(subject) && (subject === 'dates' || project.registry() !== EMBEDDED),
    );
  return (
    <Show when={open().length > 0 || lookup.waiting() > 0}>
      <section class="finding" aria-label="More from the registry">
        <h2>More from the registry</h2>
        <p class="soft">
          <Show when={lookup.waiting() === 0} fallback={`Reading: ${counted(lookup.waiting(), 'document')} to go.`}>
            More facts are in separate documents, one for each package.
          </Show>
        </p>
        <p class="finding-packages">
          <For each={open()}>
            {([subject, words]) => (
              <button type="button" class="button" onClick={() => lookup.look(subject)}>
                Look up {words} <span class="soft">{count(questions(props.tree, subject).length)}</span>
              </button>
            )}
          </For>
        </p>
      </section>
    </Show>
  );
}

function Packages(props: { tree: Tree; finding: Finding }) {
  const { view } = useSession();
  return (
    <p class="finding-packages mono">
      <For each={props.finding.nodes.slice(0, FIRST)}>
        {(node) => (
          <button
            type="button"
            class="link"
            title={props.tree.nodes[node]!.deprecated}
            onClick={() => view.choose(props.tree.nodes[node]!.location)}
          >
            <Sign node={node} />
            {title(props.tree.nodes[node])}
            <span class="soft">@{props.tree.nodes[node]!.version}</span>
          </button>
        )}
      </For>
      <Show when={props.finding.nodes.length > FIRST}>
        <span class="soft">and {counted(props.finding.nodes.length - FIRST, 'more', 'more')}</span>
      </Show>
    </p>
  );
}
