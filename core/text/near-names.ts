// Browsers run this file too.
/** Maximum number of compared letters. Longer names are not slips of a field's name. */
const LONGEST = 60;
/** Shorter names need a closer match: any two of them are at most a few letters apart. */
const SHORT = 4;

/**
 * Returns whether a name is a slip of another: the same in another case or with other separators (`visitorId`,
 * `visitor_id`), or at most two letters wrong, missing, added, or swapped (`chanel`, `channel`).
 */
export function isSlip(name: string, wanted: string): boolean {
  return slipDistance(name, wanted) !== null;
}

/** Returns the known name that a name is the nearest slip of, or null. */
export function nearestName(name: string, known: Iterable<string>): string | null {
  let nearest: { name: string; distance: number } | null = null;
  for (const one of known) {
    const distance = slipDistance(name, one);
    if (distance !== null && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY)) {
      nearest = { name: one, distance };
    }
  }
  return nearest?.name ?? null;
}

/** Returns 0 when only case and separators differ, else the number of differing letters; null: no slip. */
function slipDistance(name: string, wanted: string): number | null {
  if (name.length > LONGEST) return null;
  const [sent, right] = [plain(name), plain(wanted)];
  const most = Math.min(sent.length, right.length) <= SHORT ? 1 : 2;
  if (Math.abs(sent.length - right.length) > most) return null;
  const distance = lettersApart(sent, right);
  return distance <= most ? distance : null;
}

const plain = (name: string): string => name.toLowerCase().replace(/[\s._-]/g, '');

/** The optimal string alignment distance: letters wrong, missing, added, or swapped with their neighbor. */
function lettersApart(one: string, other: string): number {
  const { length } = other;
  let before: number[] = [];
  let last = Array.from({ length: length + 1 }, (_, n) => n);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= length; j++) {
      const at = (line: number[], n: number): number => line[n] ?? Number.POSITIVE_INFINITY;
      const isSame = one[i - 1] === other[j - 1];
      const swapped =
        i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
          ? at(before, j - 2) + 1
          : Number.POSITIVE_INFINITY;
      row[j] = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1), swapped);
    }
    [before, last] = [last, row];
  }
  return last[length] ?? Number.POSITIVE_INFINITY;
}
