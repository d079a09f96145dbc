import type { Logger } from '../../core/tier/log.ts';
import { FIRST_ID } from '../../sql/links/link-table.ts';
import { idOf } from './records.ts';
import type { TableWriter } from './table-writer.ts';
import { settled, type WalkStep } from './walk.ts';

/**
 * Links as they were a while ago, from elsewhere than the primary.
 *
 * They are exact together with the primary's changes from a cursor on. Each such change names a link, which is then
 * read from the primary; a record from here of that link is left out, since it may be older.
 */
export type EarlierLinks = {
  /** What has the links, for messages. */
  name: string;
  /**
   * The records have every change of transactions before this one. Null: of those before the loader's cursor when they
   * were opened.
   */
  cursor: string | null;
  /** Returns the next records, maybe none; null after the last. */
  next(): Promise<Buffer[] | null>;
  /** The id after which the primary's links are still to be read when {@link next} fails. */
  after(): string;
  close(): Promise<void>;
};

/** The state of the loader when earlier links are opened. */
export type LoaderState = { cursor: string; server: string };

/** @returns null when there are none to use */
export type OpenEarlierLinks = (state: LoaderState) => Promise<EarlierLinks | null>;

/** What reading earlier links needs of the loader. */
export type EarlierLinksLoader = {
  state(): LoaderState;
  /** Reads changes from this transaction on. */
  moveBack(cursor: string): void;
  /** Counts the reads of changes that succeeded. */
  reads(): number;
};

/** Ids of links that changed since the links from elsewhere. */
export type ChangedIds = {
  /** @param id 16 bytes */
  add(id: Uint8Array): void;
};

/** Longest wait for a part of a snapshot, or for a page of a replica. Milliseconds. */
const LIMIT_MS = 60_000;

const textOf = (id: Uint8Array) => Buffer.from(id.buffer, id.byteOffset, id.length).toString('latin1');

/** Returns a reader of links from elsewhere, which the loader tells of each link that changes. */
export function createEarlierLinksReader(given: {
  loader: EarlierLinksLoader;
  writer: Pick<TableWriter, 'put'>;
  log: Logger;
}): ChangedIds & {
  /**
   * Puts the links of the first source that has them all.
   *
   * @returns the id after which the primary's links are still to be read; null when none are
   */
  read(sources: readonly OpenEarlierLinks[]): Generator<WalkStep, string | null>;
} {
  const { loader, writer, log } = given;
  let changed: Set<string> | null = null;

  function warn(error: unknown): void {
    log.warn(
      { err: error },
      'link table: failed to read links from elsewhere; reading them from the primary',
    );
  }

  function* readFrom(open: OpenEarlierLinks): Generator<WalkStep, string | null> {
    changed = new Set();
    const opening = open(loader.state());
    let links: EarlierLinks | null = null;
    try {
      const opened = yield* settled(opening, LIMIT_MS);
      if (opened.status === 'rejected') {
        warn(opened.reason);
        return FIRST_ID;
      }
      links = opened.value;
      if (links === null) return FIRST_ID;
      if (links.cursor !== null) {
        loader.moveBack(links.cursor);
        // Without these changes, an outdated record could not be told from a present one.
        for (const reads = loader.reads(); loader.reads() === reads; ) yield async () => {};
      }
      for (let count = 0; ; ) {
        const page: PromiseSettledResult<Buffer[] | null> = yield* settled(links.next(), LIMIT_MS);
        if (page.status === 'rejected') {
          warn(page.reason);
          return links.after();
        }
        if (page.value === null) {
          log.info({ from: links.name, links: count }, 'link table: links were read from elsewhere');
          return null;
        }
        for (const record of page.value) if (!changed.has(textOf(idOf(record)))) writer.put(record);
        count += page.value.length;
      }
    } finally {
      changed = null;
      // Also closes what opens later.
      void opening.then((late) => late?.close()).catch(() => {});
    }
  }

  return {
    add(id) {
      changed?.add(textOf(id));
    },
    *read(sources) {
      for (const open of sources) {
        const rest: string | null = yield* readFrom(open);
        // The first part of a replica's links is not read again.
        if (rest !== FIRST_ID) return rest;
      }
      return FIRST_ID;
    },
  };
}
