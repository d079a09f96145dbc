/**
 * A hash table from 32-bit hashes to references, in two typed arrays (open addressing, linear probing). It stores no
 * keys: the caller compares the referenced record.
 */
export type RefIndex = {
  /** Returns the first reference under this hash that `matches`, 0 when there is none. */
  find(hash: number, matches: (ref: number) => boolean): number;
  add(hash: number, ref: number): void;
  /** Replaces a reference that was added under this hash. */
  replace(hash: number, ref: number, by: number): void;
  remove(hash: number, ref: number): void;
  size(): number;
};

const EMPTY = 0;
const REMOVED = -1;

export function createRefIndex(initialSlots = 1_024): RefIndex {
  let refs = new Int32Array(initialSlots);
  let hashes = new Int32Array(initialSlots);
  let mask = initialSlots - 1;
  let live = 0;
  /** Slots that are not empty: live or removed. */
  let used = 0;

  function slotOf(hash: number, ref: number): number {
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const here = refs[slot];
      if (here === ref) return slot;
      if (here === EMPTY) return -1;
    }
  }

  function insert(hash: number, ref: number): void {
    let slot = hash & mask;
    while ((refs[slot] ?? EMPTY) > EMPTY) slot = (slot + 1) & mask;
    if (refs[slot] === EMPTY) used++;
    refs[slot] = ref;
    hashes[slot] = hash;
    live++;
  }

  /** Doubles the index when it is really full, else only drops removed slots. */
  function rebuild(): void {
    const [oldRefs, oldHashes] = [refs, hashes];
    const slots = live * 3 > refs.length ? refs.length * 2 : refs.length;
    refs = new Int32Array(slots);
    hashes = new Int32Array(slots);
    mask = slots - 1;
    live = 0;
    used = 0;
    for (let slot = 0; slot < oldRefs.length; slot++) {
      const ref = oldRefs[slot] ?? EMPTY;
      if (ref > EMPTY) insert(oldHashes[slot] ?? 0, ref);
    }
  }

  return {
    find(hash, matches) {
      const wanted = hash | 0;
      for (let slot = wanted & mask; ; slot = (slot + 1) & mask) {
        const ref = refs[slot] ?? EMPTY;
        if (ref === EMPTY) return 0;
        if (ref !== REMOVED && hashes[slot] === wanted && matches(ref)) return ref;
      }
    },
    add(hash, ref) {
      if ((used + 1) * 5 > refs.length * 3) rebuild();
      insert(hash | 0, ref);
    },
    replace(hash, ref, by) {
      const slot = slotOf(hash | 0, ref);
      if (slot < 0) throw new RangeError(`reference ${ref} is not in the index`);
      refs[slot] = by;
    },
    remove(hash, ref) {
      const slot = slotOf(hash | 0, ref);
      if (slot < 0) return;
      refs[slot] = REMOVED;
      live--;
    },
    size: () => live,
  };
}
