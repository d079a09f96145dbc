import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '../../sql/database/pool.ts';
import {
  domainsAfter,
  FIRST_ID,
  linksAfter,
  otherSlugsAfter,
  publishableKeysAfter,
  workspacePolicies,
} from '../../sql/links/link-table.ts';
import { type Name, OWN_DOMAIN } from '../../sql/links/slugs.ts';
import { encodeDomain, encodeLink, encodeOther, encodePolicy } from './records.ts';
import type { TableWriter } from './table-writer.ts';

/** A step of a walk. It is repeated until it succeeds, and changes are read after it. */
export type WalkStep = () => Promise<void>;

type Walked = { pool: Pool; writer: TableWriter; page: number };

/** Domains of one query: each may hold two files. */
const DOMAINS_PAGE = 50;

/** Reads all but links: domains, pages, programs, keys, and policies of workspaces. */
export function* walkOthers({ pool, writer, page }: Walked): Generator<WalkStep> {
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
}

/** Reads links from the primary, from an id on. */
export function* walkLinks({ pool, writer, page }: Walked, first: string): Generator<WalkStep> {
  for (let from: string | null = first; from !== null; ) {
    const start: string = from;
    yield async () => {
      const { links, next } = await linksAfter(pool, start, page);
      for (const row of links) writer.put(encodeLink(row));
      from = next;
    };
  }
}

/** Longest time between two reads of changes during a wait. Milliseconds. */
const WAIT_MS = 100;

/**
 * Waits for work that a server may hold up, in short steps, so that changes are read meanwhile.
 *
 * @param limitMs of the wait
 */
export function* settled<T>(work: Promise<T>, limitMs: number): Generator<WalkStep, PromiseSettledResult<T>> {
  const outcome: { result?: PromiseSettledResult<T> } = {};
  const done = Promise.allSettled([work]).then(([result]) => {
    outcome.result = result;
  });
  const until = performance.now() + limitMs;
  do {
    yield async () => {
      await Promise.race([done, delay(WAIT_MS)]);
    };
    if (outcome.result !== undefined) return outcome.result;
  } while (performance.now() < until);
  return { status: 'rejected', reason: new Error(`no response within ${limitMs / 1_000} s`) };
}
