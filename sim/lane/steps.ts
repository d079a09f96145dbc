import { LOOK_FOR_PARTITIONS_MS } from '../../core/event-log/kafka/partitions.ts';
import type { ClickHouseFaults } from '../clickhouse/server.ts';
import { NO_CLICKHOUSE_FAULTS } from '../clickhouse/server.ts';
import type { History } from '../history.ts';
import type { Cut, NetworkFaults } from '../world/network.ts';
import { NO_NETWORK_FAULTS } from '../world/network.ts';
import { Random } from '../world/random.ts';

export type Server = 'PostgreSQL' | 'ClickHouse';

/** What may happen to workers that share lanes. Workers, streams and partitions are numbered from 0. */
export type Step =
  | { do: 'click'; stream: number; clicks: number; malformed: number; poisoned: number }
  | { do: 'wait'; ms: number }
  | { do: 'kill worker'; worker: number; afterCalls: number | null }
  | { do: 'stop worker'; worker: number }
  | { do: 'pause worker'; worker: number; ms: number; afterCalls: number | null }
  | { do: 'set clock'; worker: number; ms: number }
  | { do: 'set clock of PostgreSQL'; ms: number }
  | { do: 'sleep'; ms: number }
  | { do: 'stop'; server: Server }
  | { do: 'start'; server: Server }
  | { do: 'crash PostgreSQL' }
  | { do: 'fail PostgreSQL over'; ms: number }
  | { do: 'break ClickHouse'; faults: ClickHouseFaults }
  | { do: 'mend ClickHouse' }
  | { do: 'break network'; server: Server; faults: NetworkFaults }
  | { do: 'mend network' }
  | { do: 'cut off'; worker: number; server: Server; what: Cut }
  | { do: 'stop log' }
  | { do: 'start log' }
  | { do: 'leader behind'; partition: number; records: number; ms: number }
  | { do: 'truncate log'; partition: number; records: number }
  | { do: 'damage log'; partition: number }
  | { do: 'repeat batches'; stream: number; batches: number }
  | { do: 'restart writer'; stream: number }
  | { do: 'add partitions'; total: number }
  | { do: 'start stream' };

export type LaneOptions = {
  workers: number;
  /** Whether the workers share a host, and so see that another one has died. */
  oneHost: boolean;
  /** Whether each life of a worker has the name of the one before, as in a container. */
  sameName: boolean;
  log: 'journal' | 'kafka';
  streams: number;
  /** Of the log, where it is Kafka. */
  partitions: number;
  /** Tokens that ClickHouse keeps. */
  window: number;
  lingerMs: number;
  heartbeatMs: number;
  kills: boolean;
  pauses: boolean;
  clockFaults: boolean;
  postgresFaults: boolean;
  failovers: boolean;
  clickhouseFaults: boolean;
  networkFaults: boolean;
  lateRequests: boolean;
  logFaults: boolean;
  retention: boolean;
  badEvents: boolean;
  newStreams: boolean;
  morePartitions: boolean;
};

export type LaneHistory = History<Step> & { options: LaneOptions };

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

/** Decides a history. Each switches whole kinds of faults off, so that rare ones meet in some. */
export function decide(seed: number): LaneHistory {
  const random = new Random(seed);
  const options: LaneOptions = {
    workers: random.integer(1, 3),
    oneHost: random.chance(0.5),
    sameName: random.chance(0.3),
    log: random.pick(['journal', 'kafka']),
    streams: random.integer(1, 3),
    partitions: random.integer(1, 2),
    window: random.pick([5, 5, 20, 1_000]),
    lingerMs: random.pick([20, 100, 500]),
    heartbeatMs: random.pick([250, 1_000]),
    kills: random.chance(0.6),
    pauses: random.chance(0.4),
    clockFaults: random.chance(0.3),
    postgresFaults: random.chance(0.4),
    failovers: random.chance(0.25),
    clickhouseFaults: random.chance(0.5),
    networkFaults: random.chance(0.4),
    lateRequests: random.chance(0.2),
    logFaults: random.chance(0.4),
    retention: random.chance(0.2),
    badEvents: random.chance(0.2),
    newStreams: random.chance(0.2),
    morePartitions: random.chance(0.3),
  };
  // What no store without fencing can withstand: README.md, "What it does not know".
  if (options.lateRequests) Object.assign(options, { window: 1_000, failovers: false, retention: false });
  if (options.log === 'journal') Object.assign(options, { retention: false, morePartitions: false });
  // The first stream stays on the first partition, however many there are.
  if (options.morePartitions) Object.assign(options, { partitions: 1, streams: 3 });
  const steps: Step[] = [];
  const length = random.integer(4, 24);
  if (options.morePartitions) steps.push(...decideMoveAfterRestart(random, options));
  while (steps.length < length) steps.push(...decideSteps(random, options));
  return { seed, options, steps };
}

function decideSteps(random: Random, options: LaneOptions): Step[] {
  const worker = () => random.integer(0, options.workers - 1);
  const stream = () => random.integer(0, options.streams - 1);
  const partition = () =>
    random.integer(0, (options.log === 'kafka' ? options.partitions : options.streams) - 1);
  const server = () => random.pick<Server>(['PostgreSQL', 'ClickHouse']);
  const click = (): Step => ({
    do: 'click',
    stream: stream(),
    clicks: random.integer(1, random.pick([2, 12])),
    malformed: 0,
    poisoned: 0,
  });
  const wait = (): Step => ({ do: 'wait', ms: random.between(0, random.pick([10, 60, 400, 3_000])) });
  const clicks = () => Array.from({ length: random.integer(1, 3) }, () => [click(), wait()]).flat();
  const kinds: (() => Step[])[] = [() => [click()], clicks, clicks];
  if (options.kills) {
    kinds.push(() => [
      click(),
      { do: 'kill worker', worker: worker(), afterCalls: random.chance(0.6) ? random.integer(0, 25) : null },
      ...clicks(),
    ]);
    kinds.push(() => [{ do: 'stop worker', worker: worker() }]);
  }
  if (options.pauses) {
    kinds.push(() => [
      click(),
      wait(),
      {
        do: 'pause worker',
        worker: worker(),
        ms: random.between(500, random.pick([5_000, 20_000])),
        afterCalls: random.chance(0.6) ? random.integer(0, 25) : null,
      },
      ...clicks(),
      { do: 'wait', ms: random.between(0, 8_000) },
      ...clicks(),
    ]);
    kinds.push(() => [{ do: 'sleep', ms: random.between(100, random.pick([5_000, DAY])) }]);
  }
  if (options.clockFaults) {
    const length = random.pick([300, 5 * SECOND, 90 * SECOND, DAY]);
    const ms = random.between(-length, length);
    kinds.push(() => [{ do: 'set clock', worker: worker(), ms }, click(), wait()]);
    kinds.push(() => [{ do: 'set clock of PostgreSQL', ms }, click(), wait()]);
  }
  if (options.pauses && options.workers > 1) kinds.push(() => decideLateWake(random, options, click));
  if (options.postgresFaults) {
    kinds.push(() => [
      { do: 'stop', server: 'PostgreSQL' },
      ...clicks(),
      { do: 'start', server: 'PostgreSQL' },
    ]);
    kinds.push(() => [...clicks(), { do: 'crash PostgreSQL' }]);
  }
  if (options.failovers) {
    kinds.push(() => [
      ...clicks(),
      { do: 'fail PostgreSQL over', ms: random.between(3_500, 8_000) },
      ...clicks(),
    ]);
  }
  if (options.clickhouseFaults) {
    kinds.push(() => [
      { do: 'stop', server: 'ClickHouse' },
      ...clicks(),
      { do: 'start', server: 'ClickHouse' },
    ]);
    kinds.push(() => [{ do: 'break ClickHouse', faults: decideInsertFaults(random, options) }, ...clicks()]);
    kinds.push(() => [{ do: 'mend ClickHouse' }]);
  }
  if (options.networkFaults) {
    kinds.push(() => [
      {
        do: 'break network',
        server: server(),
        faults: {
          ...NO_NETWORK_FAULTS,
          lostRequests: random.pick([0, 0.3]),
          lostAnswers: random.pick([0, 0.3, 0.6]),
          lateMs: random.pick([0, 50, 2_000]),
        },
      },
      ...clicks(),
    ]);
    kinds.push(() => [{ do: 'mend network' }]);
    kinds.push(() => [
      click(),
      { do: 'cut off', worker: worker(), server: server(), what: random.pick<Cut>(['requests', 'answers']) },
      ...clicks(),
      { do: 'wait', ms: random.between(500, 6_000) },
      { do: 'mend network' },
    ]);
  }
  if (options.lateRequests) {
    const faults = {
      ...NO_NETWORK_FAULTS,
      heldUp: random.pick([0.2, 0.5]),
      heldUpMs: random.pick([500, 6_000]),
    };
    kinds.push(() => [
      { do: 'break network', server: server(), faults },
      ...clicks(),
      { do: 'mend network' },
    ]);
  }
  if (options.logFaults) {
    kinds.push(() => [
      random.pick<Step>([
        { do: 'repeat batches', stream: stream(), batches: random.integer(1, 4) },
        { do: 'restart writer', stream: stream() },
        {
          do: 'leader behind',
          partition: partition(),
          records: random.integer(1, 6),
          ms: random.between(100, 4_000),
        },
      ]),
      click(),
    ]);
    kinds.push(() => [{ do: 'stop log' }, ...clicks(), { do: 'start log' }]);
  }
  if (options.retention) {
    kinds.push(() => [
      click(),
      wait(),
      { do: 'truncate log', partition: partition(), records: random.integer(1, 40) },
    ]);
  }
  if (options.badEvents) {
    kinds.push(() => [
      {
        do: 'click',
        stream: stream(),
        clicks: 4,
        malformed: random.integer(0, 2),
        poisoned: random.integer(0, 2),
      },
    ]);
    kinds.push(() => [{ do: 'damage log', partition: partition() }]);
  }
  if (options.morePartitions) {
    kinds.push(() => [
      { do: 'add partitions', total: options.partitions + random.integer(1, 2) },
      ...clicks(),
      { do: 'wait', ms: random.between(0, LOOK_FOR_PARTITIONS_MS) },
      ...clicks(),
    ]);
  }
  if (options.newStreams) kinds.push(() => [{ do: 'start stream' }, click(), wait()]);
  return random.pick(kinds)();
}

/**
 * A worker stands still between its intent and its insert, and wakes up long after another one has stored that range,
 * perhaps with a clock that was set back.
 */
function decideLateWake(random: Random, { workers, clockFaults }: LaneOptions, click: () => Step): Step[] {
  const late = random.pick([100, 1_000]);
  const standing = Array.from({ length: workers }, (_, worker) => worker).filter(() => random.chance(0.6));
  return [
    { do: 'break network', server: 'PostgreSQL', faults: { ...NO_NETWORK_FAULTS, lateMs: late } },
    click(),
    click(),
    { do: 'wait', ms: random.between(20, late + 200) },
    ...standing.map(
      (worker): Step => ({
        do: 'pause worker',
        worker,
        ms: random.between(6_000, 15_000),
        afterCalls: random.chance(0.6) ? random.integer(0, 12) : null,
      }),
    ),
    ...standing.flatMap((worker): Step[] =>
      clockFaults ? [{ do: 'set clock', worker, ms: -random.between(5 * SECOND, DAY) }] : [],
    ),
    { do: 'mend network' },
    { do: 'wait', ms: random.between(4_500, 6_000) },
    ...Array.from({ length: 6 }, () => [click(), { do: 'wait', ms: 700 } as const]).flat(),
    { do: 'wait', ms: random.between(5_000, 10_000) },
  ];
}

/** A process is killed before it knows what it has sent, workers are behind, and its stream moves then. */
function decideMoveAfterRestart(random: Random, options: LaneOptions): Step[] {
  const server = random.pick<Server>(['PostgreSQL', 'ClickHouse', 'ClickHouse']);
  const stream = random.integer(1, options.streams - 1);
  const click: Step = { do: 'click', stream, clicks: random.integer(1, 6), malformed: 0, poisoned: 0 };
  const wait = (ms: number): Step => ({ do: 'wait', ms: random.between(0, ms) });
  return [
    wait(5_000),
    { do: 'add partitions', total: options.partitions + random.integer(1, 2) },
    { do: 'stop', server },
    click,
    wait(2_000),
    { do: 'restart writer', stream },
    wait(2 * LOOK_FOR_PARTITIONS_MS),
    { do: 'start', server },
    click,
  ];
}

function decideInsertFaults(random: Random, options: LaneOptions): ClickHouseFaults {
  const often = () => random.pick([0.2, 0.6]);
  const kind = random.pick([
    'refused',
    'failsAfterStored',
    'keepsTokenOnly',
    'cutOff',
    'slow',
    // A late request has other parts, and tokens, than its repeat: README.md, "What it does not know".
    ...(options.lateRequests ? [] : (['splits'] as const)),
  ] as const);
  if (kind === 'slow') return { ...NO_CLICKHOUSE_FAULTS, insertMs: options.window >= 1_000 ? 1_500 : 20 };
  return { ...NO_CLICKHOUSE_FAULTS, [kind]: often() };
}
