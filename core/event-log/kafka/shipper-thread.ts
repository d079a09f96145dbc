import { parentPort, workerData } from 'node:worker_threads';
import { crc32c } from '@node-rs/crc32';
import { createLogger } from '../../tier/log.ts';
import { createKafka } from './client.ts';
import type { FromShipper, ShipperData, ToShipper } from './ship.ts';
import { startShipper } from './shipper.ts';

/** The shipper's thread. Redirects never wait for compression, sockets or brokers. */
const data = workerData as ShipperData;
const port = parentPort;
if (!port) throw new Error('the shipper must run in a worker thread');
const post = (message: FromShipper) => port.postMessage(message);

/** Each message wakes the thread of the redirects, so counts are sent together. */
const POST_EVERY_MS = 50;
let pending = 0;
let postTimer: NodeJS.Timeout | null = null;
function postShipped(): void {
  if (postTimer) clearTimeout(postTimer);
  postTimer = null;
  if (pending > 0) post({ shipped: pending });
  pending = 0;
}

const log = createLogger('shipper', data.logLevel);
const shipper = startShipper({
  ...data,
  client: createKafka(data, `hoplog-${data.streamName}`, log, { crc32c }),
  log,
  onShipped(events) {
    pending += events;
    postTimer ??= setTimeout(postShipped, POST_EVERY_MS);
  },
  onSentAgain: (events) => post({ sentAgain: events }),
  onUnsendable: (sequence) => post({ unsendable: sequence }),
  onOutage: (outage) => post({ outage }),
});

post({ started: true });

// The owner starts another thread: the cause, such as a full disk, may pass.
void shipper.ended.then((error) => {
  if (!error) return;
  log.error({ err: error }, 'the shipper has failed; its thread restarts');
  postShipped();
  process.exit(1);
});

port.on('message', (message: ToShipper) => {
  if ('stopWithinMs' in message) {
    shipper.stop(message.stopWithinMs).then(
      () => {
        postShipped();
        process.exit(0);
      },
      () => undefined, // logged above
    );
    return;
  }
  shipper.truncate(message.needs, message.fill).catch((error: unknown) => {
    log.debug({ err: error }, 'failed to truncate the journal');
  });
});
