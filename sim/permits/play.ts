import { type Counts, type Outcome, Violation } from '../history.ts';
import { type Player as HistoryPlayer, playHistory } from '../play-history.ts';
import { NO_FAULTS } from '../world/disk.ts';
import { Network, NO_NETWORK_FAULTS } from '../world/network.ts';
import { RegisteredStream } from '../world/registered-stream.ts';
import { Killed, type World } from '../world/world.ts';
import { BOT, Ingest, type IngestPlace } from './ingest.ts';
import { LeaseTable } from './lease-table.ts';
import { PermitLedger } from './ledger.ts';
import { type PermitHistory, type PermitOptions, type Step, words } from './steps.ts';
import { PermitWorker } from './worker.ts';

/** Bounds of the end, when no fault is left. Virtual milliseconds. */
const RECOVERS_WITHIN_MS = 90_000;
/** A change of a link reaches the table of a process within this time. Milliseconds. */
const SYNCED_WITHIN_MS = 800;
/**
 * A permit that nobody uses comes free within this time, where no request can be granted after its process has given it
 * up: processes look for those every 30 seconds. The longest part is a worker's delay. Milliseconds.
 */
const FREE_WITHIN_MS = 12_000;

/** Plays a history of permits. */
export function play(history: PermitHistory, log?: (line: string) => void): Promise<Outcome> {
  const create = (world: World) => new Player(world, history.options);
  return playHistory(history, { salt: 0x9e_27_11, words, create }, log);
}

/** An ingest process with its worker. `maxClicks`: of each link, as the table of the process has it; null: deleted. */
type Node = {
  place: IngestPlace;
  ingest: Ingest | null;
  worker: PermitWorker;
  maxClicks: (number | null)[];
};

class Player implements HistoryPlayer<Step> {
  readonly #ledger = new PermitLedger();
  #starts = 0;
  #kills = 0;
  readonly #world: World;
  readonly #options: PermitOptions;
  readonly #table: LeaseTable;
  readonly #network: Network;
  readonly #links: string[];
  readonly #nodes: Node[];

  constructor(world: World, options: PermitOptions) {
    this.#world = world;
    this.#options = options;
    this.#table = new LeaseTable(world);
    this.#network = new Network(world, this.#table.process);
    this.#links = Array.from(
      { length: options.links },
      (_, link) => `01900000-0000-7000-8000-0000000001${link}0`,
    );
    for (const link of this.#links) {
      this.#table.links.set(link, { maxClicks: options.maxClicks, isDeleted: false });
      this.#ledger.setLimit(link, options.maxClicks);
    }
    this.#nodes = Array.from({ length: options.ingests }, (_, index) => this.#createNode(index));
  }

  #createNode(index: number): Node {
    const stream = new RegisteredStream(this.#world);
    const place: IngestPlace = {
      dataDir: `/data-${index}`,
      streamName: `ingest-${index}`,
      stream,
      pool: { network: this.#network, table: this.#table },
      syncMs: this.#options.syncMs,
      clickBytes: this.#options.clickBytes,
    };
    return {
      place,
      ingest: null,
      worker: this.#startWorker(place),
      maxClicks: this.#links.map(() => this.#options.maxClicks),
    };
  }

  async begin(): Promise<void> {
    for (const node of this.#nodes) await this.#ensureRunning(node, 0);
  }

  async step(step: Step): Promise<void> {
    await this.#do(step);
    this.#assertWhole();
  }

  counts(): Counts {
    return { visitors: this.#ledger.visitors, starts: this.#starts, kills: this.#kills };
  }

  async #do(step: Step): Promise<void> {
    const world = this.#world;
    switch (step.do) {
      case 'visit':
        await this.#visit(step);
        return;
      case 'bots':
        await this.#visit({ ...step, do: 'visit', leavesAfterMs: null }, BOT);
        return;
      case 'wait':
        await world.run(step.ms);
        return;
      case 'kill ingest': {
        const process = this.#nodes[step.ingest]?.ingest?.process;
        if (!process) return;
        this.#kills += 1;
        if (step.afterOperations === null) world.end(process);
        else process.operationsLeft = step.afterOperations;
        return;
      }
      case 'stop ingest': {
        const node = this.#nodes[step.ingest];
        if (node) await this.#stop(node);
        return;
      }
      case 'kill worker': {
        const node = this.#nodes[step.ingest];
        if (node) this.#restartWorker(node);
        return;
      }
      case 'cut power':
        this.#cutPower();
        return;
      case 'fill disk':
        world.disk.faults.freeBytes = step.freeBytes;
        return;
      case 'mend disk':
        world.disk.faults = { ...NO_FAULTS };
        return;
      case 'stop PostgreSQL':
        this.#setPostgres(false);
        return;
      case 'start PostgreSQL':
        this.#setPostgres(true);
        return;
      case 'break network': {
        const { do: _, ...faults } = step;
        this.#network.faults = faults;
        return;
      }
      case 'mend network':
        this.#network.faults = { ...NO_NETWORK_FAULTS };
        return;
      case 'set limit':
        this.#change(step.link, { maxClicks: step.maxClicks });
        return;
      case 'delete link':
        this.#change(step.link, { isDeleted: true });
        return;
      case 'restore link':
        this.#change(step.link, { isDeleted: false });
        return;
    }
  }

  /** Lets visitors come. They are answered while time passes. */
  async #visit(
    { ingest: index, link, visitors, leavesAfterMs }: Extract<Step, { do: 'visit' }>,
    kind = '',
  ): Promise<void> {
    const node = this.#nodes[index];
    if (!node || !(await this.#ensureRunning(node, 3_000))) return;
    const { ingest } = node;
    const linkId = this.#links[link];
    const maxClicks = node.maxClicks[link];
    // A link that is gone from the table is not found.
    if (!ingest || linkId === undefined || maxClicks === undefined || maxClicks === null) return;
    const world = this.#world;
    const come = () => {
      for (let nth = 0; nth < visitors && ingest.process.isAlive; nth++) {
        const visitor = kind + this.#ledger.nextVisitor();
        ingest.visit({ linkId, visitor, maxClicks, leavesAfterMs }, (outcome) => {
          world.note(`${visitor} ${outcome}`);
          if (kind === '') this.#ledger.answered(linkId, visitor, outcome);
          if (outcome === 'redirected') this.#redirectedAt = world.monotonic();
          if (kind === '') this.#lastAnswers.set(`${index} ${link}`, outcome);
        });
      }
    };
    world.schedule(0, come, ingest.process);
    await world.run(0);
  }

  /** When a visitor was last redirected. Milliseconds of the monotonic clock. */
  #redirectedAt = 0;
  /** The latest answer of each process for each link. */
  readonly #lastAnswers = new Map<string, string>();

  async #ensureRunning(node: Node, withinMs: number): Promise<boolean> {
    const world = this.#world;
    const end = world.monotonic() + withinMs;
    while (!node.ingest?.process.isAlive) {
      node.ingest = await this.#start(node.place);
      // Before it knows what its last life has spent, a process refuses visitors.
      await world.run(world.random.between(0, 60));
      if (node.ingest) break;
      if (world.monotonic() >= end) return false;
      await world.run(500);
    }
    return true;
  }

  async #start(place: IngestPlace): Promise<Ingest | null> {
    const world = this.#world;
    const process = world.start(place.streamName);
    this.#starts += 1;
    try {
      const ingest = await world.call(process, () => Ingest.open(process, world, place));
      const { streams } = this.#table;
      streams.set(ingest.streamId, streams.get(ingest.streamId) ?? { isActive: true, highWater: -1n });
      return ingest;
    } catch (error) {
      world.end(process);
      if (error instanceof Killed || this.#isExcused(error)) return null;
      throw error;
    }
  }

  /** A start may fail where the disk is full, or where a new stream cannot be registered. */
  #isExcused(error: unknown): boolean {
    if (!(error instanceof Error)) return false;
    const isOfDisk = this.#world.disk.faults.freeBytes !== null && 'code' in error && error.code === 'ENOSPC';
    return isOfDisk || (this.#table.isDown && error.message === RegisteredStream.DOWN);
  }

  async #stop(node: Node): Promise<void> {
    const { ingest } = node;
    node.ingest = null;
    if (!ingest?.process.isAlive) return;
    try {
      await this.#world.call(ingest.process, () => ingest.close());
    } catch (error) {
      if (!(error instanceof Killed) && !this.#isExcused(error)) throw error;
    }
    this.#world.end(ingest.process);
  }

  #restartWorker(node: Node): void {
    this.#world.end(node.worker.process);
    node.worker = this.#startWorker(node.place);
  }

  #startWorker(place: IngestPlace): PermitWorker {
    return new PermitWorker(this.#world, place, this.#ledger, this.#options.workerLagMs);
  }

  #cutPower(): void {
    this.#kills += 1;
    for (const node of this.#nodes) {
      if (node.ingest) this.#world.end(node.ingest.process);
      node.ingest = null;
      this.#world.end(node.worker.process);
    }
    if (this.#options.syncMs > 0) this.#ledger.excuse();
    this.#world.disk.cutPower();
    this.#world.note('the power was cut');
    for (const node of this.#nodes) this.#restartWorker(node);
  }

  #setPostgres(isUp: boolean): void {
    if (isUp) this.#table.start();
    else this.#table.stop();
    for (const { place } of this.#nodes) place.stream.isDown = !isUp;
  }

  /** Changes a link, which the tables of processes learn one after the other. */
  #change(index: number, change: { maxClicks?: number; isDeleted?: boolean }): void {
    const linkId = this.#links[index];
    const row = linkId && this.#table.links.get(linkId);
    if (!linkId || !row || this.#table.isDown) return;
    Object.assign(row, change);
    if (change.maxClicks !== undefined) this.#ledger.setLimit(linkId, change.maxClicks);
    for (const node of this.#nodes) {
      this.#world.schedule(
        this.#world.random.between(0, SYNCED_WITHIN_MS),
        () => {
          node.maxClicks[index] = row.isDeleted ? null : row.maxClicks;
        },
        this.#world.outside,
      );
    }
  }

  #assertWhole(): void {
    const violation =
      this.#ledger.violation ?? this.#nodes.find(({ worker }) => worker.violation)?.worker.violation;
    if (violation) throw violation;
  }

  /**
   * Every fault ends: visitors come until they are told that no permit is left, and then all of them are used. They may
   * come by one process alone, to which what the others hold must come back.
   */
  async end(): Promise<void> {
    const world = this.#world;
    world.disk.faults = { ...NO_FAULTS };
    this.#network.faults = { ...NO_NETWORK_FAULTS };
    this.#setPostgres(true);
    for (const link of this.#links.keys()) this.#change(link, { isDeleted: false });
    for (const { ingest } of this.#nodes) if (ingest) ingest.process.operationsLeft = null;
    await world.run(SYNCED_WITHIN_MS);
    for (const node of this.#nodes) {
      if (!(await this.#ensureRunning(node, RECOVERS_WITHIN_MS))) {
        throw new Violation('a service recovers once the faults end', 'its journal cannot be opened');
      }
    }
    const { lateRequests, kills, powerCuts, postgresFaults } = this.#options;
    const withinMs =
      lateRequests || kills || powerCuts || postgresFaults ? RECOVERS_WITHIN_MS : FREE_WITHIN_MS;
    const began = world.monotonic();
    while (!(await this.#allSaySpent())) {
      this.#assertWhole();
      const now = world.monotonic();
      if (now <= began + RECOVERS_WITHIN_MS && now <= Math.max(began, this.#redirectedAt) + withinMs)
        continue;
      throw new Violation('every permit is used in the end', 'visitors are not told that none is left');
    }
    for (const node of this.#nodes) await this.#stop(node);
    await world.until(() => this.#ledger.isStored(), RECOVERS_WITHIN_MS);
    // What visitors were never told of comes last.
    await world.run(2 * this.#options.workerLagMs + 1_000);
    this.#assertWhole();
    this.#ledger.check();
  }

  /** Lets a visitor come to each link. @returns whether each was told that no permit is left */
  async #allSaySpent(): Promise<boolean> {
    this.#lastAnswers.clear();
    const { endsAt } = this.#options;
    const ingests = endsAt < 0 ? [...this.#nodes.keys()] : [endsAt];
    const all = ingests.flatMap((ingest) => this.#links.map((_, link) => ({ ingest, link })));
    for (const { ingest, link } of all) {
      await this.#visit({ do: 'visit', ingest, link, visitors: 1, leavesAfterMs: null });
    }
    await this.#world.run(300);
    return all.every(({ ingest, link }) => this.#lastAnswers.get(`${ingest} ${link}`) === 'spent');
  }
}
