/** A set of integers from 0, one bit each: there may be a hundred million. */
export type BitSet = {
  add(member: number): void;
  remove(member: number): void;
  has(member: number): boolean;
  readonly size: number;
};

export function createBitSet(): BitSet {
  let bits = new Uint8Array(1_024);
  let size = 0;
  const has = (member: number) => ((bits[member >>> 3] ?? 0) & (1 << (member & 7))) !== 0;
  return {
    add(member) {
      if (has(member)) return;
      if (member >>> 3 >= bits.length) {
        const larger = new Uint8Array(Math.max(bits.length * 2, (member >>> 3) + 1));
        larger.set(bits);
        bits = larger;
      }
      bits[member >>> 3] = (bits[member >>> 3] ?? 0) | (1 << (member & 7));
      size++;
    },
    remove(member) {
      if (!has(member)) return;
      bits[member >>> 3] = (bits[member >>> 3] ?? 0) & ~(1 << (member & 7));
      size--;
    },
    has,
    get size() {
      return size;
    },
  };
}
