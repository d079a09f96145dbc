import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { changesAfter, type LinkChange, oldestRunningTransaction } from '../../sql/links/link-changes.ts';
import {
  FIRST_ID,
  linksAfter,
  linksOfDestinations,
  linksWithIds,
  otherSlugsAfter,
  otherSlugsOf,
  publishableKeysAfter,
  publishableKeysWithIds,
} from '../../sql/links/link-table.ts';
import { encodeLink, encodeOther } from './records.ts';
import type { TableWriter } from './table-writer.ts';

/**
 * Keeps a table what PostgreSQL says. One loop, one question at a time, each answer put into the table before the
 * next is asked: so no older answer ever replaces a newer one.
 *
 * 1. It notes the oldest running transaction, then walks all pages, programmes, keys and links. A table that was kept
 *    and knows where it syncPoint gets the changes since then at once, and is walked all the same.
 * 2. Between two pages of the walk, and from then on at each wake and every `pollMs`, it reads the changes from that
 *    transaction on and reads what they name again.
 * 3. After an outage it goes on where it syncPoint. It walks everything again when the store's transactions went
 *    backwards (another database, a backup) or when it was away longer than changes are kept.
 */
export type TableLoader = {
  start(): void;
  /** Something may have changed: look now. */
  wake(): void;
  /** Whether pages, programmes and keys have been loaded since this process began. They come first. */
  othersLoaded(): boolean;
  /** Resolves when the table is what PostgreSQL says for the first time, or when PostgreSQL does not answer. */
  readonly tried: Promise<void>;
  stop(): Promise<void>;
} & SyncStatus;

/** How a table stands to PostgreSQL. */
export type SyncStatus = {
  /** Whether everything has been loaded from PostgreSQL since this process began. */
  loaded(): boolean;
  /** Milliseconds since the table was last known to be what PostgreSQL says; infinite before that. */
  age(): number;
  /** Milliseconds since PostgreSQL last said what changed; infinite before that. */
  silence(): number;
  /** How often changes have come or a walk has begun: an answer to what was asked before may be outdated. */
  revision(): number;
};

/** A state of PostgreSQL: all changes of transactions before `cursor` are in the table, as of `at` (ms). */
export type SyncPoint = { cursor: string; at: number };

/** Rows put in one turn of the event loop, where redirects wait for it. */
const PAGE = 500;
/** Changes are kept for a day; after this long away a load is the safer way. */
const LONGEST_ABSENCE_MS = 6 * 3_600_000;

export function createTableLoader(given: {
  pool: Pool;
  writer: TableWriter;
  log: Logger;
  /** Where a table that was kept syncPoint; null: not known. */
  syncPoint?: SyncPoint | null;
  /** Rows, or changes, that are read and put at a time; fewer where redirects wait meanwhile. */
  page?: number;
  /** Longest time between two looks, milliseconds. */
  pollMs?: number;
}): TableLoader {
  const { pool, writer, log, page = PAGE, pollMs = 500 } = given;
  let { syncPoint = null } = given;
  let stopped = false;
  let running: Promise<void> | null = null;
  let wakeUp: (() => void) | null = null;
  let woken = false;
  let failing = false;
  let unkept = false;
  /** Transactions before this one are in the table. */
  let cursor = '';
  /** Changes at or above the cursor that are in the table already. */
  let applied = new Set<string>();
  let walk: Generator<() => Promise<void>> | null = null;
  let loaded = false;
  /** It lacks no change: it is loaded, or goes on from where it syncPoint. */
  let current = false;
  let othersLoaded = false;
  let currentAt = Number.NEGATIVE_INFINITY;
  let answeredAt = Number.NEGATIVE_INFINITY;
  const createdAt = Date.now();
  let revision = 0;
  const tried = Promise.withResolvers<void>();

  async function loop(): Promise<void> {
    while (!stopped) {
      try {
        await once();
        if (failing) log.info('link table: PostgreSQL answers again');
        failing = false;
        if (current) tried.resolve();
      } catch (error) {
        if (!failing) log.warn({ err: error }, 'link table: PostgreSQL does not answer');
        failing = true;
        tried.resolve();
      }
      if (!stopped && (walk === null || failing)) await pause();
    }
  }

  async function once(): Promise<void> {
    const began = Date.now();
    if (began - Math.max(answeredAt, createdAt) > LONGEST_ABSENCE_MS) beginAnew();
    if (!loaded && walk === null) await beginWalk(began);
    const step = walk?.next();
    if (step?.done === false) await step.value();
    else if (walk !== null) {
      walk = null;
      await writer.endLoad();
      loaded = true;
      current = true;
    }
    await round();
    if (current) currentAt = began;
    // Before the disk is asked: whatever it says, PostgreSQL was not away.
    answeredAt = Date.now();
    await settle(current ? { cursor, at: began } : null);
  }

  /** What can't be kept on disk is in the table all the same. */
  async function settle(syncPoint: SyncPoint | null): Promise<void> {
    try {
      await writer.settle(syncPoint);
      unkept = false;
    } catch (error) {
      if (!unkept) log.error({ err: error }, 'link table: could not be kept on disk');
      unkept = true;
    }
  }

  function beginAnew(): void {
    loaded = false;
    current = false;
    walk = null;
  }

  async function beginWalk(now: number): Promise<void> {
    const from = syncPoint !== null && now - syncPoint.at < LONGEST_ABSENCE_MS ? syncPoint : null;
    cursor = from?.cursor ?? (await oldestRunningTransaction(pool));
    current = from !== null;
    syncPoint = null;
    // Changes of earlier transactions are not read any more: what was asked before now may not know of them.
    revision += 1;
    applied = new Set();
    walk = everything();
    writer.beginLoad();
  }

  /** The walk as steps: each reads a page and puts it, and can be tried again when it failed. */
  function* everything(): Generator<() => Promise<void>> {
    let more = true;
    let slug = '';
    while (more) {
      yield async () => {
        const rows = await otherSlugsAfter(pool, slug, page);
        for (const row of rows) writer.put(encodeOther(row));
        slug = rows.at(-1)?.slug ?? slug;
        more = rows.length === page;
      };
    }
    more = true;
    let after = FIRST_ID;
    while (more) {
      yield async () => {
        const rows = await publishableKeysAfter(pool, after, page);
        for (const row of rows) writer.putKey(row);
        after = rows.at(-1)?.id ?? after;
        more = rows.length === page;
      };
    }
    othersLoaded = true;
    for (let from: string | null = FIRST_ID; from !== null; ) {
      const start: string = from;
      yield async () => {
        const { links, next } = await linksAfter(pool, start, page);
        for (const row of links) writer.put(encodeLink(row));
        from = next;
      };
    }
  }

  async function round(): Promise<void> {
    let next: string | null = null;
    let position = { xid: cursor, id: '-1' };
    const seen = new Set<string>();
    for (;;) {
      const { xmin, changes } = await changesAfter(pool, position, page);
      if (BigInt(xmin) < BigInt(cursor)) {
        log.warn({ xmin, cursor }, 'link table: transactions went backwards, loading everything');
        beginAnew();
        return;
      }
      next ??= xmin;
      const fresh = changes.filter((change) => !applied.has(nameOf(change)));
      if (fresh.length > 0) await readAgain(fresh);
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

  async function readAgain(changes: LinkChange[]): Promise<void> {
    // Before anything is put: whoever has asked PostgreSQL before now may have an answer from before these changes.
    revision += 1;
    writer.beginChanges();
    const idsOf = (...kinds: LinkChange['kind'][]) => [
      ...new Set(changes.filter(({ kind }) => kinds.includes(kind)).map(({ target_id }) => target_id)),
    ];
    const links = idsOf('link');
    if (links.length > 0) writer.replaceLinks(links, await linksWithIds(pool, links));
    const destinations = idsOf('destination');
    if (destinations.length > 0) {
      for (const row of await linksOfDestinations(pool, destinations)) writer.put(encodeLink(row));
    }
    const others = idsOf('bio_page', 'program');
    if (others.length > 0) writer.replaceOthers(others, await otherSlugsOf(pool, others));
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
      running ??= loop();
    },
    wake,
    tried: tried.promise,
    loaded: () => loaded,
    othersLoaded: () => othersLoaded,
    silence: () => Date.now() - answeredAt,
    age: () => Date.now() - currentAt,
    revision: () => revision,
    async stop() {
      stopped = true;
      wake();
      await running;
    },
  };
}

function nameOf(change: LinkChange): string {
  return `${change.xid}:${change.id}`;
}
