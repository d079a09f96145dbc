import { hashKey } from '../../core/access/keys.ts';
import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { ReadingPoint } from '../../sql/event-log/reading-points.ts';
import type { Auth } from '../dependencies.ts';

/** Who a caller is expected to be, and what was to be known before clicks are read when that was last asked. */
export type ExpectedReader = { workspaceId: string; readingPoint: ReadingPoint };

/** Keys that are remembered. */
const KEYS = 10_000;
/**
 * For so long a watermark is taken for that of a question that is asked ahead. An older one is as true, but who passes it
 * back gets the clicks since again. Milliseconds.
 */
const FRESH_MS = 250;

/**
 * What keys were when they were last asked for, so that a store may be asked while it is asked whether they still are. Nobody is
 * admitted by it, and nothing is answered by it alone.
 */
export type ExpectedReaders = {
  /** Null: the key was not admitted lately, or the watermark is no longer fresh. */
  of(token: string): ExpectedReader | null;
  /** @param askedAt when its question was sent, by {@link ExpectedReaders.now} */
  admitted(token: string, auth: Auth & { readingPoint: ReadingPoint }, askedAt: number): void;
  refused(token: string): void;
  now(): number;
};

/** @param now milliseconds that only grow */
export function createExpectedReaders(now = () => performance.now()): ExpectedReaders {
  const readers = createBoundedCache<string, { workspaceId: string; hasDeletedLinks: boolean }>(KEYS);
  let latest = { watermark: 0, askedAt: Number.NEGATIVE_INFINITY };
  const isFresh = () => now() - latest.askedAt <= FRESH_MS;
  const nameOf = (token: string) => hashKey(token).toString('base64');

  return {
    of(token) {
      // The watermark is the same for all workspaces.
      if (!isFresh()) return null;
      const reader = readers.get(nameOf(token));
      if (!reader) return null;
      const { workspaceId, hasDeletedLinks } = reader;
      return { workspaceId, readingPoint: { watermark: latest.watermark, hasDeletedLinks } };
    },
    admitted(token, { workspace, readingPoint: { watermark, hasDeletedLinks } }, askedAt) {
      readers.set(nameOf(token), { workspaceId: workspace.id, hasDeletedLinks });
      // It never goes back, and questions overtake each other: the greatest was read last.
      const known = isFresh() ? latest.watermark : 0;
      latest = { watermark: Math.max(watermark ?? 0, known), askedAt: Math.max(askedAt, latest.askedAt) };
    },
    refused: (token) => readers.delete(nameOf(token)),
    now,
  };
}
