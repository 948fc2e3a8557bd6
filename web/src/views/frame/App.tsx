// The frame: the start page until there is a project, then three regions side by side, or stacked
// on a phone, with the strip of time below.

import { createSignal, Match, Show, Switch } from 'solid-js';
import { isPlayed } from '../../state/played';
import { useSession } from '../../state/session';
import { Landing } from '../landing/Landing';
import { ManifestRegion } from '../manifest/ManifestRegion';
import { OutcomeRegion } from '../outcome/OutcomeRegion';
import { PackageRegion } from '../package/PackageRegion';
import { Announcer } from './Announcer';
import { DropTarget } from './DropTarget';
import { Header } from './Header';
import { Keys } from './Keys';
import { Notice } from './Notice';
import { Regions } from './Regions';
import { handleKeys } from './shortcuts';
import { TimeStrip } from './TimeStrip';
import './frame.css';

export function App() {
  const { isLanding, unread } = useSession();
  const [keysShown, setKeysShown] = createSignal(false);
  handleKeys({ showKeys: () => setKeysShown(true) });
  return (
    <div class="frame" classList={{ landed: isLanding() }}>
      <Header showKeys={() => setKeysShown(true)} />
      <Notice />
      <Switch>
        <Match when={isLanding() && isPlayed}>
          <main class="played-wait">
            <p class="soft">{unread() ? `The project can’t be read: ${unread()}.` : 'Reading the project…'}</p>
          </main>
        </Match>
        <Match when={isLanding()}>
          <Landing />
        </Match>
        <Match when={true}>
          <Regions manifest={<ManifestRegion />} outcome={<OutcomeRegion />} package={<PackageRegion />} />
        </Match>
      </Switch>
      <Show when={!isLanding()}>
        <TimeStrip />
      </Show>
      <DropTarget />
      <Keys shown={keysShown()} close={() => setKeysShown(false)} />
      <Announcer />
    </div>
  );
}
