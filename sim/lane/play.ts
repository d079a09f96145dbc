import { LONGEST_LEAD_MS } from '../../sql/event-log/lanes.ts';
import { NO_CLICKHOUSE_FAULTS } from '../clickhouse/server.ts';
import { type Counts, type Outcome, Violation } from '../history.ts';
import { type Player as HistoryPlayer, playHistory } from '../play-history.ts';
import { NO_NETWORK_FAULTS } from '../world/network.ts';
import { Killed, type World } from '../world/world.ts';
import { checkCounts } from './counts.ts';
import { Deployment } from './deployment.ts';
import type { LaneHistory, LaneOptions, Server, Step } from './steps.ts';
import { words } from './words.ts';

/**
 * Bound of the end, when no fault is left: a lease expires, and what waits is stored. PostgreSQL may have written the
 * lease while its clock was ahead. Virtual milliseconds.
 */
const RECOVERS_WITHIN_MS = LONGEST_LEAD_MS + 15_000;
/** Commits that a failover loses at most. */
const LOST_COMMITS = 12;

/** Plays a history of lanes. */
export function play(history: LaneHistory, log?: (line: string) => void): Promise<Outcome> {
  const create = (world: World) => new Player(world, history.options);
  return playHistory(history, { salt: 0x1a_ae_55, words, create }, log);
}

class Player implements HistoryPlayer<Step> {
  readonly #world: World;
  readonly #options: LaneOptions;
  readonly #deployment: Deployment;
  #kills = 0;

  constructor(world: World, options: LaneOptions) {
    this.#world = world;
    this.#options = options;
    this.#deployment = new Deployment(world, options);
  }

  async begin(): Promise<void> {
    for (let stream = 0; stream < this.#options.streams; stream++) await this.#deployment.startStream();
  }

  async step(step: Step): Promise<void> {
    await this.#do(step);
    this.#assertWhole();
  }

  counts(): Counts {
    const { ledger, starts } = this.#deployment;
    return { clicks: ledger.clicks, starts, kills: this.#kills };
  }

  async #do(step: Step): Promise<void> {
    const world = this.#world;
    const { database, clickhouse, log, networks, writers, workers, rows } = this.#deployment;
    switch (step.do) {
      case 'click':
        world.as(world.outside, () => writers[step.stream]?.click(step.clicks, step));
        return;
      case 'wait':
        await world.run(step.ms);
        return;
      case 'kill worker': {
        const { process } = this.#life(step.worker);
        if (!process.isAlive) return;
        this.#kills += 1;
        if (step.afterCalls === null) world.end(process);
        else process.operationsLeft = step.afterCalls;
        return;
      }
      case 'stop worker':
        await this.#stop(step.worker);
        return;
      case 'pause worker':
        if (step.afterCalls === null) world.pause(this.#life(step.worker).process, step.ms);
        else this.#life(step.worker).process.pauseAfter = { operations: step.afterCalls, ms: step.ms };
        return;
      case 'set clock': {
        const worker = workers[step.worker];
        if (!worker) return;
        worker.clockOffset = step.ms;
        worker.life.process.clockOffset = step.ms;
        return;
      }
      case 'set clock of PostgreSQL':
        database.process.clockOffset = step.ms;
        return;
      case 'sleep':
        world.sleep(step.ms);
        return;
      case 'stop':
        this.#set(step.server, false);
        return;
      case 'start':
        this.#set(step.server, true);
        return;
      case 'crash PostgreSQL':
        if (!database.isDown) database.crash();
        return;
      case 'fail PostgreSQL over': {
        database.stop();
        await world.run(step.ms);
        const lost = database.failOver(LOST_COMMITS);
        rows.wentBack();
        world.note(`${lost} commits are lost`);
        return;
      }
      case 'break ClickHouse':
        clickhouse.faults = { ...step.faults };
        return;
      case 'mend ClickHouse':
        clickhouse.faults = { ...NO_CLICKHOUSE_FAULTS };
        return;
      case 'break network':
        networks[step.server].faults = { ...step.faults };
        return;
      case 'mend network':
        this.#mendNetworks();
        return;
      case 'cut off':
        networks[step.server].cuts.set(this.#life(step.worker).process, step.what);
        return;
      case 'stop log':
      case 'start log':
        log.isDown = step.do === 'stop log';
        return;
      case 'leader behind': {
        const partition = log.partitions[step.partition];
        partition?.hide(step.records);
        world.schedule(step.ms, () => partition?.hide(0), world.outside);
        return;
      }
      case 'truncate log': {
        const partition = log.partitions[step.partition];
        if (partition) log.onTruncated(partition.truncate(partition.end - BigInt(step.records)));
        return;
      }
      case 'damage log':
        log.partitions[step.partition]?.append({ damage: Buffer.from('damaged') });
        return;
      case 'repeat batches':
        writers[step.stream]?.repeat(step.batches);
        return;
      case 'restart writer':
        writers[step.stream]?.restart();
        return;
      case 'add partitions':
        this.#deployment.addPartitions(step.total);
        return;
      case 'start stream':
        await this.#deployment.startStream();
        return;
    }
  }

  #life(index: number) {
    const worker = this.#deployment.workers[index];
    if (!worker) throw new RangeError(`no worker ${index}`);
    return worker.life;
  }

  async #stop(index: number): Promise<void> {
    const life = this.#life(index);
    if (!life.process.isAlive) return;
    try {
      await life.stop();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }

  #set(server: Server, isUp: boolean): void {
    const { database, clickhouse } = this.#deployment;
    if (server === 'ClickHouse') clickhouse.isDown = !isUp;
    else if (isUp) database.start();
    else database.stop();
  }

  #mendNetworks(): void {
    for (const network of Object.values(this.#deployment.networks)) {
      network.faults = { ...NO_NETWORK_FAULTS };
      network.cuts.clear();
    }
  }

  #assertWhole(): void {
    const { violation } = this.#deployment.ledger;
    if (violation) throw violation;
  }

  /**
   * Every fault ends: what was answered has to be stored, and what comes now too, and a poller has to get all of it.
   */
  async end(): Promise<void> {
    const world = this.#world;
    const { database, clickhouse, log, writers, workers, ledger, poller } = this.#deployment;
    this.#mendNetworks();
    clickhouse.faults = { ...NO_CLICKHOUSE_FAULTS };
    this.#set('ClickHouse', true);
    this.#set('PostgreSQL', true);
    log.isDown = false;
    for (const partition of log.partitions) partition.hide(0);
    database.process.clockOffset = 0;
    for (const worker of workers) {
      worker.clockOffset = 0;
      worker.life.process.clockOffset = 0;
      worker.life.process.operationsLeft = null;
      worker.life.process.pauseAfter = null;
    }
    for (const writer of writers) writer.click(1);
    const isSettled = () => ledger.violation !== null || (ledger.isSettled && this.#isPolled());
    await world.until(isSettled, RECOVERS_WITHIN_MS);
    this.#assertWhole();
    if (!isSettled()) {
      throw new Violation(
        'what is in the log is stored once the faults end',
        `${ledger.firstWaiting()} waits after ${RECOVERS_WITHIN_MS / 1_000} s`,
      );
    }
    // What is stored twice may come last.
    await world.run(4_000);
    this.#assertWhole();
    ledger.check(poller.seen);
    this.#assertWhole();
    checkCounts(database, clickhouse);
  }

  #isPolled(): boolean {
    const { clickhouse, poller } = this.#deployment;
    return [...clickhouse.clicks.keys()].every((event) => poller.seen.has(event));
  }
}
