import { parentPort, workerData } from 'node:worker_threads';
import { createLogger } from '../../tier/log.ts';
import { createKafka } from './client.ts';
import type { FromShipper, ShipperData, ToShipper } from './ship.ts';
import { startShipper } from './shipper.ts';

/** The shipper's own thread: a redirect never waits for compression, sockets or brokers. */
const data = workerData as ShipperData;
const port = parentPort;
if (!port) throw new Error('the shipper runs in a thread of its own');
const tell = (message: FromShipper) => port.postMessage(message);

/** Each message wakes the redirects' thread: what was shipped is told together. */
const TELL_EVERY_MS = 50;
let untold = 0;
let telling: NodeJS.Timeout | null = null;
function tellShipped(): void {
  if (telling) clearTimeout(telling);
  telling = null;
  if (untold > 0) tell({ shipped: untold });
  untold = 0;
}

const log = createLogger('shipper', data.logLevel);
const shipper = startShipper({
  ...data,
  client: createKafka(data, `hoplog-${data.streamName}`, log),
  log,
  onShipped(events) {
    untold += events;
    telling ??= setTimeout(tellShipped, TELL_EVERY_MS);
  },
  onOutage: (outage) => tell({ outage }),
});

tell({ started: true });

// The thread's owner starts another: what broke this one, such as a full disk, may pass.
void shipper.ended.then((error) => {
  if (!error) return;
  log.error({ err: error }, 'the shipper has failed');
  tellShipped();
  process.exit(1);
});

port.on('message', (message: ToShipper) => {
  if ('stopWithinMs' in message) {
    shipper.stop(message.stopWithinMs).then(
      () => {
        tellShipped();
        process.exit(0);
      },
      () => undefined, // said above
    );
    return;
  }
  const stored = message.stored === null ? null : BigInt(message.stored);
  shipper.free(stored, message.fill).catch((error: unknown) => {
    log.debug({ err: error }, 'could not free the journal');
  });
});
