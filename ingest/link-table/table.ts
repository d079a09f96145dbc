import { createArena, LARGEST_RECORD } from './arena.ts';
import type { KnownKey } from './known-key.ts';
import {
  decodeRecord,
  hashOfId,
  hashOfSlug,
  hasSlug,
  idOf,
  kindOf,
  type SlugRecord,
  slugOf,
} from './records.ts';
import { createRefIndex } from './ref-index.ts';

/** For whoever keeps something made of a record: called for every slug and key that a change touches. */
export type TableListener = {
  slugChanged(slug: string): void;
  /** Whether a visitor has wanted what was made of this slug since this was asked the last time. */
  usedSince?(slug: string): boolean;
  keyChanged?(lookup: string): void;
};

/**
 * Live links, pages and programmes of the deployment by slug and by id, and publishable keys, in memory: all of them,
 * but for links that were evicted. Who writes into it, and when, is not its subject: see `loader.ts`.
 */
export type LinkTable = {
  /** What the slug names, in any case of letters; the caller compares a link's spelling. */
  find(slug: string): SlugRecord | null;
  /**
   * Puts a record (see `records.ts`) in the place of the one with its id, if there is one.
   *
   * @returns whether anything changed
   * @throws {RangeError} and changes nothing, when it is larger than {@link LARGEST_RECORD}
   */
  put(record: Buffer): boolean;
  /**
   * Puts a record that has changed, unless it is a link of which the table holds neither id nor slug: then whoever
   * listens is told of it.
   *
   * @throws {RangeError} as {@link put}
   */
  refresh(record: Buffer): void;
  /** Removes the record with this id. @returns whether there was one */
  remove(id: Uint8Array): boolean;
  /**
   * Removes a link that nobody has wanted for long, which PostgreSQL still has: by the clock algorithm (second
   * chance), and after {@link EVICTION_LOOKS} links without one to remove the next.
   *
   * @returns its id; null when there is no link
   */
  evict(): Buffer | null;
  key(lookup: string): KnownKey | null;
  putKey(key: KnownKey): boolean;
  /** @param id the key's id @returns the key that was removed */
  removeKey(id: string): KnownKey | null;
  keys(): Iterable<KnownKey>;
  /** Starts a load that covers everything: what is not put until {@link endLoad} is gone then. */
  beginLoad(): void;
  /** @returns ids of the records that the load did not bring, already removed, in portions */
  endLoad(): Generator<Buffer>;
  /** The live records in order of address; see {@link import('./arena.ts').Arena.refs}. */
  records(): Generator<Buffer>;
  listen(listener: TableListener): void;
  size(): number;
  /** Links among the records. */
  links(): number;
  /** Bytes of the records' buffers. */
  bytes(): number;
};

/** Of a record's mark: a visitor has wanted it since the clock's hand was there. The rest is the load's. */
const USED = 4;
/** Most links that one eviction looks at: a visitor may be waiting. */
const EVICTION_LOOKS = 32;

export function createLinkTable(): LinkTable {
  const arena = createArena();
  const bySlug = createRefIndex();
  const byId = createRefIndex();
  const keysByLookup = new Map<string, KnownKey>();
  const lookupsById = new Map<string, string>();
  const listeners: TableListener[] = [];
  /** Mark of records that the present load has brought; loads take turns with 1 and 2. */
  let mark = 1;
  let links = 0;
  /** The clock's hand: where the last eviction ended. */
  let hand = 0;

  const refOfId = (id: Uint8Array) => byId.find(hashOfId(id), (ref) => idOf(arena.read(ref)).equals(id));
  const refOfSlug = (slug: string) => bySlug.find(hashOfSlug(slug), (ref) => hasSlug(arena.read(ref), slug));

  function tell(slug: string): void {
    for (const listener of listeners) listener.slugChanged(slug);
  }

  function drop(ref: number): void {
    const record = arena.read(ref);
    const slug = slugOf(record);
    if (kindOf(record) === 'link') links--;
    bySlug.remove(hashOfSlug(slug), ref);
    byId.remove(hashOfId(idOf(record)), ref);
    arena.free(ref);
    tell(slug);
  }

  /** Whether a visitor has wanted the link since the hand was here; and notes that it was here. */
  function wanted(ref: number): boolean {
    const mark = arena.markOf(ref);
    arena.setMark(ref, mark & ~USED);
    if ((mark & USED) !== 0) return true;
    const slug = slugOf(arena.read(ref));
    return listeners.some((listener) => listener.usedSince?.(slug) === true);
  }

  function put(record: Buffer): boolean {
    if (record.length > LARGEST_RECORD) throw new RangeError(`record of ${record.length} bytes`);
    const id = idOf(record);
    const before = refOfId(id);
    if (before !== 0) {
      if (arena.read(before).equals(record)) {
        arena.setMark(before, mark | (arena.markOf(before) & USED));
        return false;
      }
      drop(before);
    }
    const slug = slugOf(record);
    // A slug that changed hands: its former owner's own change is on its way.
    const holder = refOfSlug(slug);
    if (holder !== 0) drop(holder);
    const ref = arena.put(record, mark);
    bySlug.add(hashOfSlug(slug), ref);
    byId.add(hashOfId(id), ref);
    if (kindOf(record) === 'link') links++;
    tell(slug);
    return true;
  }

  return {
    find(slug) {
      const ref = refOfSlug(slug);
      if (ref === 0) return null;
      arena.setMark(ref, arena.markOf(ref) | USED);
      return decodeRecord(arena.read(ref));
    },
    put,
    refresh(record) {
      const held = refOfId(idOf(record)) !== 0 || refOfSlug(slugOf(record)) !== 0;
      if (held || kindOf(record) !== 'link') put(record);
      else tell(slugOf(record));
    },
    remove(id) {
      const ref = refOfId(id);
      if (ref === 0) return false;
      drop(ref);
      return true;
    },
    evict() {
      if (links === 0) return null;
      for (let looks = 0; ; ) {
        hand = arena.after(hand);
        if (kindOf(arena.read(hand)) !== 'link') continue;
        looks++;
        if (looks < EVICTION_LOOKS && wanted(hand)) continue;
        const id = Buffer.from(idOf(arena.read(hand)));
        drop(hand);
        return id;
      }
    },
    key: (lookup) => keysByLookup.get(lookup) ?? null,
    putKey(key) {
      const known = keysByLookup.get(key.lookup);
      if (known?.id === key.id && known.hash.equals(key.hash)) return false;
      if (known !== undefined) lookupsById.delete(known.id);
      keysByLookup.set(key.lookup, key);
      lookupsById.set(key.id, key.lookup);
      for (const listener of listeners) listener.keyChanged?.(key.lookup);
      return true;
    },
    removeKey(id) {
      const lookup = lookupsById.get(id);
      if (lookup === undefined) return null;
      const key = keysByLookup.get(lookup) ?? null;
      lookupsById.delete(id);
      keysByLookup.delete(lookup);
      return key;
    },
    keys: () => keysByLookup.values(),
    beginLoad() {
      mark = mark === 1 ? 2 : 1;
    },
    *endLoad() {
      for (const ref of arena.refs()) {
        if ((arena.markOf(ref) & ~USED) === mark) continue;
        const id = Buffer.from(idOf(arena.read(ref)));
        drop(ref);
        yield id;
      }
    },
    *records() {
      for (const ref of arena.refs()) yield arena.read(ref);
    },
    listen: (listener) => listeners.push(listener),
    size: () => bySlug.size(),
    links: () => links,
    bytes: () => arena.bytes(),
  };
}
