import { parseArgs } from 'node:util';
import { asHoplog, asPlatformatic, asRecordPerClick } from './ways.ts';

/**
 * One round of `bench/shipper.ts` in its own process, to measure its CPU time: ships a journal to a topic and prints
 * the cost from the first acknowledgement on, without connections and compilation.
 */

export const WAYS = {
  hoplog: asHoplog,
  'platformatic-gzip': asPlatformatic('gzip'),
  'platformatic-zstd': asPlatformatic('zstd'),
  'record-per-click': asRecordPerClick,
};

export type Shipped = { events: number; seconds: number; cpu: number };

const { values } = parseArgs({
  options: {
    way: { type: 'string', default: '' },
    'data-dir': { type: 'string', default: '' },
    stream: { type: 'string', default: '' },
    brokers: { type: 'string', default: '' },
    topic: { type: 'string', default: '' },
    events: { type: 'string', default: '0' },
  },
});
const way = WAYS[values.way as keyof typeof WAYS];
let first: { events: number; at: number; cpu: NodeJS.CpuUsage } | null = null;
let last: Shipped = { events: 0, seconds: 0, cpu: 0 };
await way({
  dataDir: values['data-dir'],
  streamName: values.stream,
  brokers: values.brokers,
  topic: values.topic,
  events: Number(values.events),
  onShipped(events) {
    if (first === null) {
      first = { events, at: performance.now(), cpu: process.cpuUsage() };
      return;
    }
    const { user, system } = process.cpuUsage(first.cpu);
    last = {
      events: events - first.events,
      seconds: (performance.now() - first.at) / 1_000,
      cpu: (user + system) / 1e6,
    };
  },
});
process.stdout.write(`${JSON.stringify(last)}\n`);
process.exit(0);
