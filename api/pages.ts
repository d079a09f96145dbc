import { clampToStored, formatInstant, NANOS_PER_MICRO, requireInstant } from '../core/time/timestamps.ts';

/**
 * A cursor of rows whose times have microseconds, as PostgreSQL keeps them. Rows older than it follow. A cursor
 * with finer digits is rounded up, so that "older than it" means the same.
 *
 * @throws {AppError} `bad_request` when it is no instant
 */
export function readCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const nanos = clampToStored(requireInstant('cursor', cursor));
  const finer = ((nanos % NANOS_PER_MICRO) + NANOS_PER_MICRO) % NANOS_PER_MICRO;
  return formatInstant(finer === 0n ? nanos : nanos - finer + NANOS_PER_MICRO, 6);
}

/**
 * Cuts a page out of one row more than it holds.
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
 * The same where a row's own id is the cursor: ids of these rows rise with the time at which they were made.
 *
 * @param cursorOf the id of a row
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
