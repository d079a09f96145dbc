import { createArena, LARGEST_RECORD } from './arena.ts';
import type { KnownKey } from './known-key.ts';
import {
  decodeRecord,
  hashOfId,
  hashOfName,
  hasName,
  idOf,
  kindOf,
  recordName,
  type SlugRecord,
} from './records.ts';
import { createRefIndex } from './ref-index.ts';

/** Listener for data derived from records. Called for every slug and key that a change touches. */
export type TableListener = {
  slugChanged(slug: string): void;
  /** Returns whether a visitor used what was derived from this slug since the last call. */
  usedSince?(slug: string): boolean;
  keyChanged?(lookup: string): void;
};

/**
 * The live links, pages and programs by slug and by id, and publishable keys, in memory. Links may be evicted.
 * `loader.ts` decides what is written.
 */
export type LinkTable = {
  /** Returns what the slug names, in any case of letters. */
  find(slug: string): SlugRecord | null;
  /**
   * Puts a record (see `records.ts`), replacing those with its id or its slug.
   *
   * @returns whether anything changed
   * @throws {RangeError} without a change when it is larger than {@link LARGEST_RECORD}
   */
  put(record: Buffer): boolean;
  /**
   * Puts a changed record. A link whose id and slug the table lacks is only announced to listeners.
   *
   * @throws {RangeError} as {@link put}
   */
  refresh(record: Buffer): void;
  /** Removes the record with this id. @returns whether there was one */
  remove(id: Uint8Array): boolean;
  /**
   * Evicts a link that was not used lately, by the clock algorithm (second chance). After {@link EVICTION_LOOKS}
   * links it evicts the next.
   *
   * @returns its id; null when there is no link
   */
  evict(): Buffer | null;
  key(lookup: string): KnownKey | null;
  putKey(key: KnownKey): boolean;
  /** @param id the key's id @returns the removed key */
  removeKey(id: string): KnownKey | null;
  keys(): Iterable<KnownKey>;
  /** Starts a full load: {@link endLoad} removes what was not put since. */
  beginLoad(): void;
  /** Removes the records that the load did not put. @returns the removed ids, one at a time */
  endLoad(): Generator<Buffer>;
  /** Iterates the live records in order of address; see {@link import('./arena.ts').Arena.refs}. */
  records(): Generator<Buffer>;
  listen(listener: TableListener): void;
  size(): number;
  /** Links among the records. */
  links(): number;
  /** Bytes of the records' buffers. */
  bytes(): number;
};

/** Bit of a record's mark: used since the clock's hand passed. The other bits are the load's. */
const USED = 4;
/** Most links that an eviction examines: a visitor may be waiting. */
const EVICTION_LOOKS = 32;

export function createLinkTable(): LinkTable {
  const arena = createArena();
  const bySlug = createRefIndex();
  const byId = createRefIndex();
  const keysByLookup = new Map<string, KnownKey>();
  const lookupsById = new Map<string, string>();
  const listeners: TableListener[] = [];
  /** Mark of records that the current load has put; loads alternate between 1 and 2. */
  let mark = 1;
  let links = 0;
  /** The clock's hand: where the last eviction ended. */
  let hand = 0;

  const refOfId = (id: Uint8Array) => byId.find(hashOfId(id), (ref) => idOf(arena.read(ref)).equals(id));
  const refOfSlug = (slug: string) => bySlug.find(hashOfName(slug), (ref) => hasName(arena.read(ref), slug));

  function notify(slug: string): void {
    for (const listener of listeners) listener.slugChanged(slug);
  }

  function drop(ref: number): void {
    const record = arena.read(ref);
    const slug = recordName(record);
    if (kindOf(record) === 'link') links--;
    bySlug.remove(hashOfName(slug), ref);
    byId.remove(hashOfId(idOf(record)), ref);
    arena.free(ref);
    notify(slug);
  }

  /** Clears the used bit. @returns whether the link was used since the hand passed */
  function wasUsed(ref: number): boolean {
    const mark = arena.markOf(ref);
    arena.setMark(ref, mark & ~USED);
    if ((mark & USED) !== 0) return true;
    const slug = recordName(arena.read(ref));
    return listeners.some((listener) => listener.usedSince?.(slug) === true);
  }

  function put(record: Buffer): boolean {
    if (record.length > LARGEST_RECORD) throw new RangeError(`record of ${record.length} bytes`);
    const id = idOf(record);
    const former = refOfId(id);
    if (former !== 0) {
      if (arena.read(former).equals(record)) {
        arena.setMark(former, mark | (arena.markOf(former) & USED));
        return false;
      }
      drop(former);
    }
    const slug = recordName(record);
    // The slug has a new owner; the change of the former one follows.
    const holder = refOfSlug(slug);
    if (holder !== 0) drop(holder);
    const ref = arena.put(record, mark);
    bySlug.add(hashOfName(slug), ref);
    byId.add(hashOfId(id), ref);
    if (kindOf(record) === 'link') links++;
    notify(slug);
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
      const held = refOfId(idOf(record)) !== 0 || refOfSlug(recordName(record)) !== 0;
      if (held || kindOf(record) !== 'link') put(record);
      else notify(recordName(record));
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
        if (looks < EVICTION_LOOKS && wasUsed(hand)) continue;
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
