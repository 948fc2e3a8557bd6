// The frame: three regions side by side, or one after the other on a phone, and the strip of time below.

import { createSignal } from 'solid-js';
import { ManifestRegion } from '../manifest/ManifestRegion';
import { OutcomeRegion } from '../outcome/OutcomeRegion';
import { PackageRegion } from '../package/PackageRegion';
import { Announcer } from './Announcer';
import { DropTarget } from './DropTarget';
import { Header } from './Header';
import { Keys } from './Keys';
import { handleKeys } from './shortcuts';
import { Regions } from './Regions';
import { TimeStrip } from './TimeStrip';
import './frame.css';

export function App() {
  const [keysShown, setKeysShown] = createSignal(false);
  handleKeys({ showKeys: () => setKeysShown(true) });
  return (
    <div class="frame">
      <Header showKeys={() => setKeysShown(true)} />
      <Regions manifest={<ManifestRegion />} outcome={<OutcomeRegion />} package={<PackageRegion />} />
      <TimeStrip />
      <DropTarget />
      <Keys shown={keysShown()} close={() => setKeysShown(false)} />
      <Announcer />
    </div>
  );
}
