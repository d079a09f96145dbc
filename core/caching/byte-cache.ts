/**
 * Caches results by the bytes that they are read from, for values that repeat. A hit allocates nothing, not even the
 * text of the bytes. A hash of the bytes selects a slot, which holds the latest result with that hash. With 2,700 user
 * agents of 110 bytes a hit takes 0.2 µs; decoding the text and looking it up in a map takes 0.3, and leaves garbage.
 */
export type ByteCache<T> = (bytes: Buffer, from: number, to: number) => T;

const WORD = 4;

/**
 * Creates an empty cache. It takes `slots * longest` bytes.
 *
 * @param given.slots a power of two
 * @param given.longest bytes; longer input is read each time, because it seldom repeats. At most 65,534
 * @param given.read depends on the bytes alone
 */
export function createByteCache<T>(given: {
  slots: number;
  longest: number;
  read: (bytes: Buffer, from: number, to: number) => T;
}): ByteCache<T> {
  const { slots, longest, read } = given;
  const held = new Uint8Array(slots * longest);
  const heldView = new DataView(held.buffer);
  /** One more than the length, so that 0 is an empty slot. */
  const lengths = new Uint16Array(slots);
  const results: (T | undefined)[] = Array(slots).fill(undefined);
  // A view reads four bytes at once: a user agent is compared in 52 ns, byte by byte in 144. Batches share a buffer.
  let view: DataView = heldView;

  return (bytes, from, to) => {
    const length = to - from;
    if (length > longest) return read(bytes, from, to);
    if (view.buffer !== bytes.buffer) view = new DataView(bytes.buffer);
    const at = bytes.byteOffset + from;
    const slot = hashOf(view, at, length) & (slots - 1);
    if (lengths[slot] === length + 1 && isEqual(heldView, slot * longest, view, at, length))
      return results[slot] as T;
    const result = read(bytes, from, to);
    results[slot] = result;
    held.set(bytes.subarray(from, to), slot * longest);
    lengths[slot] = length + 1;
    return result;
  };
}

function isEqual(held: DataView, heldAt: number, view: DataView, at: number, length: number): boolean {
  let next = 0;
  for (; next + WORD <= length; next += WORD)
    if (held.getInt32(heldAt + next) !== view.getInt32(at + next)) return false;
  for (; next < length; next++) if (held.getInt8(heldAt + next) !== view.getInt8(at + next)) return false;
  return true;
}

/** Mixes all bytes (multipliers of xxHash32). */
function hashOf(view: DataView, at: number, length: number): number {
  let hash = length;
  let next = 0;
  for (; next + WORD <= length; next += WORD) {
    hash = Math.imul(hash ^ view.getInt32(at + next), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; next < length; next++) hash = Math.imul(hash ^ view.getInt8(at + next), 0x85ebca77);
  return hash ^ (hash >>> 13);
}
