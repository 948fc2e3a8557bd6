// Compiled only: that the sources are what the hand-written types promise.

import type * as declared from 'espalier';
import type * as declaredSlim from 'espalier/slim';
import type * as declaredWorker from 'espalier/worker';

import * as main from '../src/index.js';
import * as node from '../src/node.js';
import * as slim from '../src/slim.js';
import * as worker from '../src/worker.js';

main satisfies typeof declared;
node satisfies typeof declared;
slim satisfies typeof declaredSlim;
// The types alone come from the main entry.
worker satisfies Pick<typeof declaredWorker, 'createWorkerClient' | 'EspalierError'>;
