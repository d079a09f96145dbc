import { clampToStored, formatInstant, NANOS_PER_MICRO, requireInstant } from '../core/time/timestamps.ts';

/**
 * Parses a cursor of rows with PostgreSQL's microseconds; rows older than it follow. Finer digits are rounded up,
 * which keeps "older than" exact.
 *
 * @throws {AppError} `bad_request` when it is not an instant
 */
export function readCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const nanos = clampToStored(requireInstant('cursor', cursor));
  const finer = ((nanos % NANOS_PER_MICRO) + NANOS_PER_MICRO) % NANOS_PER_MICRO;
  return formatInstant(finer === 0n ? nanos : nanos - finer + NANOS_PER_MICRO, 6);
}

/**
 * Returns a page and its next cursor from up to one row more than the page holds.
 *
 * @param rows newest first, up to `limit + 1` of them
 */
export function cutPage<T extends { created_at: string }>(
  rows: T[],
  limit: number,
): { rows: T[]; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  return { rows: page, nextCursor: rows.length > limit ? (page.at(-1)?.created_at ?? null) : null };
}

/**
 * {@link cutPage} where a row's id is the cursor: the ids rise with creation time.
 *
 * @param cursorOf returns the id of a row
 */
export function cutPageAt<T, Cursor>(
  rows: T[],
  limit: number,
  cursorOf: (row: T) => Cursor,
): { rows: T[]; nextCursor: Cursor | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}
