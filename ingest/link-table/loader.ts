import { adviceOn } from '../../core/databases/advice.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { changesAfter, type LinkChange, oldestRunningTransaction } from '../../sql/links/link-changes.ts';
import {
  domainsAfter,
  domainsWithIds,
  FIRST_ID,
  linksAfter,
  linksOfDestinations,
  linksWithIds,
  otherSlugsAfter,
  otherSlugsOf,
  policiesAmong,
  publishableKeysAfter,
  publishableKeysWithIds,
  workspacePolicies,
} from '../../sql/links/link-table.ts';
import { type Name, OWN_DOMAIN } from '../../sql/links/slugs.ts';
import { encodeDomain, encodeLink, encodeOther, encodePolicy } from './records.ts';
import type { TableWriter } from './table-writer.ts';

/**
 * Replicates PostgreSQL into a table. One loop runs one query at a time and applies its rows before the next query, so
 * that an older response never replaces a newer one.
 *
 * 1. It reads the oldest running transaction, then walks all domains, pages, programs, keys and links. A table with a
 *    sync point of the same server, a few hours old at most, gets the changes since then instead. A table with one of
 *    another server gets them first, and is walked all the same.
 * 2. Between two pages of the walk, and afterwards at each wake and every `pollMs`, it reads the changes since that
 *    transaction, and the rows that they name.
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
/** Domains of one query: each may hold two files. */
const DOMAINS_PAGE = 50;
/** PostgreSQL keeps changes for a day; after this absence a walk is safer. */
const LONGEST_ABSENCE_MS = 6 * 3_600_000;

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
}): TableLoader {
  const { pool, writer, log, page = PAGE, pollMs = 1_000 } = given;
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
  let walk: Generator<() => Promise<void>> | null = null;
  let loaded = false;
  /** Whether the table has every change: it is loaded, or resumed from its sync point. */
  let current = false;
  let othersLoaded = false;
  let currentAt = Number.NEGATIVE_INFINITY;
  let lastResponseAt = Number.NEGATIVE_INFINITY;
  const createdAt = Date.now();
  let revision = 0;
  const tried = Promise.withResolvers<void>();

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
    const page = walk?.next();
    if (page?.done === false) await page.value();
    else if (walk !== null) {
      walk = null;
      await writer.endLoad();
      loaded = true;
      current = true;
    }
    await readChanges();
    if (current) currentAt = began;
    // Set before the disk is written: a slow disk is not an absence of PostgreSQL.
    lastResponseAt = Date.now();
    await settle(current && server !== null ? { cursor, at: began, server } : null);
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
    loaded = false;
    current = false;
    walk = null;
  }

  /** The table stays in use: it lacks no more than a change or two. */
  function walkAgain(): void {
    loaded = false;
    walk = null;
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

  /** The walk as steps. Each reads and applies a page, and can be retried. */
  function* everything(): Generator<() => Promise<void>> {
    yield async () => {
      for (const row of await workspacePolicies(pool)) writer.put(encodePolicy(row));
    };
    let more = true;
    let after = FIRST_ID;
    while (more) {
      yield async () => {
        const rows = await domainsAfter(pool, after, DOMAINS_PAGE);
        for (const row of rows) writer.put(encodeDomain(row));
        after = rows.at(-1)?.id ?? after;
        more = rows.length === DOMAINS_PAGE;
      };
    }
    more = true;
    let name: Name = { domainNumber: OWN_DOMAIN, slug: '' };
    while (more) {
      yield async () => {
        const rows = await otherSlugsAfter(pool, name, page);
        for (const row of rows) writer.put(encodeOther(row));
        name = rows.at(-1) ?? name;
        more = rows.length === page;
      };
    }
    more = true;
    after = FIRST_ID;
    while (more) {
      yield async () => {
        const rows = await publishableKeysAfter(pool, after, page);
        for (const row of rows) writer.putKey(row);
        after = rows.at(-1)?.id ?? after;
        more = rows.length === page;
      };
    }
    // A step of its own, so that visitors are served before the first page of links.
    yield async () => {
      othersLoaded = true;
    };
    for (let from: string | null = FIRST_ID; from !== null; ) {
      const start: string = from;
      yield async () => {
        const { links, next } = await linksAfter(pool, start, page);
        for (const row of links) writer.put(encodeLink(row));
        from = next;
      };
    }
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
    if (links.length > 0) writer.replaceLinks(links, await linksWithIds(pool, links));
    const destinations = idsOf('destination');
    if (destinations.length > 0) {
      for (const row of await linksOfDestinations(pool, destinations)) writer.put(encodeLink(row));
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
    },
  };
}

function nameOf(change: LinkChange): string {
  return `${change.xid}:${change.id}`;
}
