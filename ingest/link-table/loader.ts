import { adviceOn } from '../../core/databases/advice.ts';
import { uuidToBytes } from '../../core/ids.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { changesAfter, type LinkChange, oldestRunningTransaction } from '../../sql/links/link-changes.ts';
import {
  domainsWithIds,
  linksOfDestinations,
  linksWithIds,
  otherSlugsOf,
  policiesAmong,
  publishableKeysWithIds,
} from '../../sql/links/link-table.ts';
import { createEarlierLinksReader, type OpenEarlierLinks } from './earlier-links.ts';
import { encodeLink } from './records.ts';
import type { TableWriter } from './table-writer.ts';
import { type WalkStep, walkLinks, walkOthers } from './walk.ts';

/**
 * Replicates PostgreSQL into a table. One loop runs one query at a time and applies its rows before the next query, so
 * that an older response never replaces a newer one.
 *
 * 1. It reads the oldest running transaction, then walks all domains, pages, programs, keys and links. A table with a
 *    sync point of the same server, a few hours old at most, gets the changes since then instead. A table with one of
 *    another server gets them first, and is walked all the same.
 *    Links may come from elsewhere (`earlier-links.ts`); all else comes from the primary.
 * 2. At each wake and every `pollMs`, between two pages of the walk too, it reads the changes since that transaction
 *    from the primary, and the rows that they name.
 * 3. After an outage it resumes from its cursor. It walks everything again when PostgreSQL's transactions went
 *    backwards (another database, a backup), or when it was down for longer than the changes’ retention. It also does
 *    so when another server responds: a standby that was behind has lost changes, and reuses their transaction ids.
 */
export type TableLoader = {
  start(): void;
  /** Reads changes now: there may be new ones. */
  wake(): void;
  /** Whether pages, programs and keys were loaded since this process started. They come first. */
  othersLoaded(): boolean;
  /** Resolves once the table equals PostgreSQL for the first time, or when PostgreSQL does not respond. */
  readonly tried: Promise<void>;
  stop(): Promise<void>;
} & SyncStatus;

/** How current a table is. */
export type SyncStatus = {
  /** Whether everything was loaded from PostgreSQL since this process started. */
  loaded(): boolean;
  /** Milliseconds since the table was last known to equal PostgreSQL; infinite before that. */
  age(): number;
  /** Milliseconds since PostgreSQL last returned changes; infinite before that. */
  silence(): number;
  /** Counts applied changes and walks. The response to a query that began before the last one may be outdated. */
  revision(): number;
};

/**
 * A state of PostgreSQL: as of `at` (ms) the table has all changes of transactions before `cursor`. `server` names the
 * start of the server that had it.
 */
export type SyncPoint = { cursor: string; at: number; server: string };

/** Rows applied in one turn of the event loop, for which redirects wait. */
const PAGE = 500;
/** PostgreSQL keeps changes for a day; after this absence a walk is safer. */
export const LONGEST_ABSENCE_MS = 6 * 3_600_000;

export function createTableLoader(given: {
  pool: Pool;
  writer: TableWriter;
  log: Logger;
  /** Sync point of the table; null when unknown. */
  syncPoint?: SyncPoint | null;
  /** Rows or changes of one query; fewer where redirects wait for them. */
  page?: number;
  /** Longest time between two reads of changes, ms. */
  pollMs?: number;
  /** What to read links from instead of the primary, in this order. */
  elsewhere?: readonly OpenEarlierLinks[];
}): TableLoader {
  const { pool, writer, log, page = PAGE, pollMs = 1_000, elsewhere = [] } = given;
  let { syncPoint = null } = given;
  let stopped = false;
  let running: Promise<void> | null = null;
  let wakeUp: (() => void) | null = null;
  let woken = false;
  let failing = false;
  let diskFailing = false;
  /** Changes of transactions before this one were applied. */
  let cursor = '';
  /** Changes at or after the cursor that were applied. */
  let applied = new Set<string>();
  /** The start of the server that responded last. */
  let server: string | null = null;
  let walk: Generator<WalkStep> | null = null;
  /** The step of the walk that has not succeeded yet. */
  let pending: WalkStep | null = null;
  /** Reads of changes that succeeded, and when the last one began. */
  let reads = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let loaded = false;
  /** Whether the table has every change: it is loaded, or resumed from its sync point. */
  let current = false;
  let othersLoaded = false;
  let currentAt = Number.NEGATIVE_INFINITY;
  let lastResponseAt = Number.NEGATIVE_INFINITY;
  const createdAt = Date.now();
  let revision = 0;
  const tried = Promise.withResolvers<void>();
  const earlierLinks = createEarlierLinksReader({
    loader: {
      state: () => ({ cursor, server: server ?? '' }),
      moveBack(to) {
        cursor = to;
        applied = new Set();
        woken = true;
      },
      reads: () => reads,
    },
    writer,
    log,
  });

  async function run(): Promise<void> {
    while (!stopped) {
      try {
        await step();
        if (failing) log.info('link table: PostgreSQL is up again');
        failing = false;
        if (current) tried.resolve();
      } catch (error) {
        if (!failing) {
          const { message = 'failed to read changes from PostgreSQL', ...more } = adviceOn(error) ?? {};
          log.warn({ err: error, ...more }, `link table: ${message}; will retry`);
        }
        failing = true;
        tried.resolve();
      }
      if (!stopped && (walk === null || failing)) await pause();
    }
  }

  async function step(): Promise<void> {
    const began = Date.now();
    if (began - Math.max(lastResponseAt, createdAt) > LONGEST_ABSENCE_MS) restart();
    if (!loaded && walk === null) await begin(began);
    if (walk !== null) await advance(walk);
    if (walk === null || woken || began - readAt >= pollMs) {
      woken = false;
      await readChanges();
      reads += 1;
      readAt = began;
      if (current) currentAt = began;
      // Set before the disk is written: a slow disk is not an absence of PostgreSQL.
      lastResponseAt = Date.now();
    }
    await settle(current && server !== null ? { cursor, at: readAt, server } : null);
  }

  async function advance(present: Generator<WalkStep>): Promise<void> {
    pending ??= present.next().value ?? null;
    if (pending !== null) {
      await pending();
      pending = null;
      return;
    }
    await writer.endLoad();
    walk = null;
    loaded = true;
    current = true;
  }

  /** A failure of the disk does not affect the table in memory. */
  async function settle(syncPoint: SyncPoint | null): Promise<void> {
    try {
      await writer.settle(syncPoint);
      diskFailing = false;
    } catch (error) {
      if (!diskFailing)
        log.error({ err: error }, 'link table: failed to write to disk; continuing in memory');
      diskFailing = true;
    }
  }

  function restart(): void {
    current = false;
    walkAgain();
  }

  /** The table stays in use: it lacks no more than a change or two. */
  function walkAgain(): void {
    loaded = false;
    endWalk();
  }

  function endWalk(): void {
    walk?.return(undefined);
    walk = null;
    pending = null;
  }

  /** Begins a walk, or continues from a young sync point. */
  async function begin(now: number): Promise<void> {
    const from = syncPoint !== null && now - syncPoint.at < LONGEST_ABSENCE_MS ? syncPoint : null;
    const present = await oldestRunningTransaction(pool);
    cursor = from?.cursor ?? present.xmin;
    current ||= from !== null;
    syncPoint = null;
    // Changes of earlier transactions are not read: responses from before now may lack them.
    revision += 1;
    applied = new Set();
    if (from?.server === present.server) {
      server = from.server;
      loaded = true;
      othersLoaded = true;
      return;
    }
    walk = everything();
    writer.beginLoad();
  }

  function* everything(): Generator<WalkStep> {
    const walked = { pool, writer, page };
    yield* walkOthers(walked);
    // A step of its own, so that visitors are served before the first page of links.
    yield async () => {
      othersLoaded = true;
    };
    const rest = yield* earlierLinks.read(elsewhere);
    if (rest !== null) yield* walkLinks(walked, rest);
  }

  async function readChanges(): Promise<void> {
    let next: string | null = null;
    let position = { xid: cursor, id: '-1' };
    const seen = new Set<string>();
    for (;;) {
      const { xmin, server: responding, changes } = await changesAfter(pool, position, page);
      const isOther = server !== null && server !== responding;
      server = responding;
      if (BigInt(xmin) < BigInt(cursor)) {
        log.warn(
          { xmin, cursor },
          'link table: PostgreSQL’s transactions went backwards; reloading everything',
        );
        restart();
        return;
      }
      if (isOther) {
        log.info('link table: PostgreSQL has started again; reading everything again');
        walkAgain();
        return;
      }
      next ??= xmin;
      const fresh = changes.filter((change) => !applied.has(nameOf(change)));
      if (fresh.length > 0) await applyChanges(fresh);
      for (const change of changes) {
        applied.add(nameOf(change));
        if (BigInt(change.xid) >= BigInt(next)) seen.add(nameOf(change));
      }
      const last = changes.at(-1);
      if (last === undefined || changes.length < page) break;
      position = { xid: last.xid, id: last.id };
    }
    cursor = next;
    applied = seen;
  }

  async function applyChanges(changes: LinkChange[]): Promise<void> {
    // Before anything is applied: a lookup from before now may have an older row.
    revision += 1;
    writer.beginChanges();
    const idsOf = (...kinds: LinkChange['kind'][]) => [
      ...new Set(changes.filter(({ kind }) => kinds.includes(kind)).map(({ target_id }) => target_id)),
    ];
    const links = idsOf('link');
    for (const id of links) earlierLinks.add(uuidToBytes(id));
    if (links.length > 0) writer.replaceLinks(links, await linksWithIds(pool, links));
    const destinations = idsOf('destination');
    if (destinations.length > 0) {
      for (const row of await linksOfDestinations(pool, destinations)) {
        earlierLinks.add(uuidToBytes(row.id));
        writer.put(encodeLink(row));
      }
    }
    const domains = idsOf('domain');
    if (domains.length > 0) writer.replaceDomains(domains, await domainsWithIds(pool, domains));
    const others = idsOf('bio_page', 'program', 'alias', 'prefix');
    if (others.length > 0) writer.replaceOthers(others, await otherSlugsOf(pool, others));
    const workspaces = idsOf('workspace');
    if (workspaces.length > 0) {
      writer.replacePolicies(workspaces, await policiesAmong(pool, workspaces));
    }
    const keys = idsOf('key');
    if (keys.length > 0) writer.replaceKeys(keys, await publishableKeysWithIds(pool, keys));
  }

  async function pause(): Promise<void> {
    if (!woken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs);
        wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    wakeUp = null;
    woken = false;
  }

  function wake(): void {
    woken = true;
    wakeUp?.();
  }

  return {
    start() {
      running ??= run();
    },
    wake,
    tried: tried.promise,
    loaded: () => loaded,
    othersLoaded: () => othersLoaded,
    silence: () => Date.now() - lastResponseAt,
    age: () => Date.now() - currentAt,
    revision: () => revision,
    async stop() {
      stopped = true;
      wake();
      await running;
      endWalk();
    },
  };
}

function nameOf(change: LinkChange): string {
  return `${change.xid}:${change.id}`;
}
