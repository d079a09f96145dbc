/** A map of 64-bit keys to numbers, in typed arrays: a `Map` of big integers takes five times as much memory. */
export type KeyTable = {
  get(high: number, low: number): number | undefined;
  set(high: number, low: number, value: number): void;
  size(): number;
};

const FIRST_SLOTS = 1_024;
/** At most two of three slots are used, because a full table is slow. */
const USED_OF_THREE = 2;

/** Creates an empty table. Keys must be hashes: their lowest bits select the slot. */
export function createKeyTable(): KeyTable {
  let slots = FIRST_SLOTS;
  let highs = new Uint32Array(slots);
  let lows = new Uint32Array(slots);
  /** NaN: the slot is free. */
  let values = new Float64Array(slots).fill(Number.NaN);
  let size = 0;

  /** Returns the slot of a key, or the free one for it. */
  function slotOf(high: number, low: number): number {
    let slot = low & (slots - 1);
    while (!Number.isNaN(values[slot]) && (highs[slot] !== high || lows[slot] !== low)) {
      slot = (slot + 1) & (slots - 1);
    }
    return slot;
  }

  function put(high: number, low: number, value: number): void {
    const slot = slotOf(high, low);
    if (Number.isNaN(values[slot])) size += 1;
    highs[slot] = high;
    lows[slot] = low;
    values[slot] = value;
  }

  function grow(): void {
    const [oldHighs, oldLows, oldValues] = [highs, lows, values];
    slots *= 2;
    size = 0;
    highs = new Uint32Array(slots);
    lows = new Uint32Array(slots);
    values = new Float64Array(slots).fill(Number.NaN);
    for (let n = 0; n < oldValues.length; n++) {
      const value = oldValues[n] ?? Number.NaN;
      if (!Number.isNaN(value)) put(oldHighs[n] ?? 0, oldLows[n] ?? 0, value);
    }
  }

  return {
    get(high, low) {
      const value = values[slotOf(high, low)];
      return value === undefined || Number.isNaN(value) ? undefined : value;
    },
    set(high, low, value) {
      put(high, low, value);
      if (size * 3 > slots * USED_OF_THREE) grow();
    },
    size: () => size,
  };
}
