import { Counter, Gauge, type Registry } from 'prom-client';
import type { KafkaSettings } from '../../settings/config.ts';
import type { Logger } from '../../tier/log.ts';
import { startRestartingThread } from '../../tier/restarting-thread.ts';
import type { EventLogWriter, StreamIdentity, StreamNeeds } from '../port.ts';

export type ShipperData = {
  brokers: string[];
  kafka: KafkaSettings;
  dataDir: string;
  streamName: string;
  stream: StreamIdentity;
  logLevel: string;
};

/** `needs`: null while PostgreSQL does not respond. */
export type ToShipper = { needs: StreamNeeds | null; fill: number } | { stopWithinMs: number };
/** `started`: the thread has loaded, native modules included. `unsendable`: see `ShipperOptions`. */
export type FromShipper =
  | { started: true }
  | { shipped: number }
  | { sentAgain: number }
  | { unsendable: bigint }
  | { outage: boolean };

export type Shipping = {
  /** Whether a thread has started since this process began. Without one, events never leave the journal. */
  hasStarted(): boolean;
  /** Stops the thread. What Kafka has not acknowledged waits in the journal for the next start. */
  end(): Promise<void>;
};

export type ShippingOptions = Omit<ShipperData, 'stream' | 'logLevel'> & {
  journal: EventLogWriter;
  /** Returns what workers have stored of the stream. */
  needs: () => Promise<StreamNeeds>;
  /** Records that the journal no longer holds what the log has lost up to a sequence. */
  giveUp: (sequence: bigint) => Promise<void>;
  log: Logger;
  registry: Registry;
};

const FREE_EVERY_MS = 1_000;
const DRAIN_MS = 1_000;
const THREAD = new URL('./shipper-thread.ts', import.meta.url);

/**
 * Ships a journal to Kafka from a thread, for as long as the process runs. A thread that can't load is restarted and
 * logged each time; `hasStarted` stays false meanwhile.
 */
export function shipToKafka(options: ShippingOptions): Shipping {
  const { journal, needs, giveUp, log, registry, brokers, kafka, dataDir, streamName } = options;
  const registers = [registry];
  const shipped = new Counter({
    name: 'hoplog_shipper_events_total',
    help: 'Events acknowledged by Kafka.',
    registers,
  });
  const sentAgain = new Counter({
    name: 'hoplog_shipper_sent_again_events_total',
    help: 'Events sent again because Kafka had lost them before workers stored them.',
    registers,
  });
  const outage = new Gauge({
    name: 'hoplog_shipper_outage',
    help: '1 while Kafka accepts no events and they wait in the journal.',
    registers,
  });
  const data: ShipperData = {
    brokers,
    kafka,
    dataDir,
    streamName,
    stream: journal.stream,
    logLevel: log.level,
  };
  let started = false;
  let unsendable = -1n;
  const thread = startRestartingThread<ToShipper, FromShipper>({
    url: THREAD,
    workerData: data,
    name: 'the shipper',
    log,
    onMessage(message) {
      if ('started' in message) started = true;
      else if ('shipped' in message) shipped.inc(message.shipped);
      else if ('sentAgain' in message) sentAgain.inc(message.sentAgain);
      else if ('unsendable' in message) unsendable = message.unsendable;
      else outage.set(message.outage ? 1 : 0);
    },
    onDeath: () => outage.set(1),
  });

  async function ask(): Promise<StreamNeeds> {
    const given = unsendable;
    if (given >= 0n) await giveUp(given);
    if (unsendable === given) unsendable = -1n;
    return needs();
  }

  let asking = false;
  const freeing = setInterval(() => {
    if (asking) return;
    asking = true;
    void ask()
      .then(
        (told) => thread.post({ needs: told, fill: journal.fill() }),
        () => thread.post({ needs: null, fill: journal.fill() }),
      )
      .finally(() => {
        asking = false;
      });
  }, FREE_EVERY_MS);
  freeing.unref();

  return {
    hasStarted: () => started,
    async end() {
      clearInterval(freeing);
      await thread.stop({ stopWithinMs: DRAIN_MS }, DRAIN_MS + 500);
    },
  };
}
