import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { PICTURE_TYPES, type PictureFormat, pictureAt } from '../../core/bio/pictures.ts';
import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import { pictureContents } from '../../sql/bio/pictures.ts';
import type { Pool } from '../../sql/database/pool.ts';
import type { Exchanges, Headers } from '../http/exchange.ts';
import { createCoalescedQueries, LookupUnavailable } from '../link-table/coalesced-queries.ts';
import type { VisitorPages } from '../pages/pages.ts';

/** Pictures in memory, 0.2 MB each, 2 MB at most. */
const CAPACITY = 32;
/** A picture that was deleted, or whose workspace was suspended, is served from memory this long. */
const FRESH_MS = 60_000;
/** Longest wait for PostgreSQL. Milliseconds. */
const LOOKUP_MS = 3_000;
/** Strangers may ask for any name. Few together: a statement's pictures are in memory at once. */
const LIMITS = { concurrency: 2, waiting: 500, together: 8 };

type Handler = (res: HttpResponse, req: HttpRequest, head: boolean) => void;

/**
 * Serves uploaded pictures of bio pages at `/assets/<name>`. A name never gets other content, so a browser keeps it for a
 * year. With PostgreSQL down, pictures in memory are served, and others get 503.
 *
 * @param given.otherwise responds at other paths below `/assets`
 */
export function createPictures(given: {
  pool: Pool;
  exchanges: Exchanges;
  pages: VisitorPages;
  otherwise: Handler;
  lookupMs?: number | undefined;
}): Handler {
  const { pool, exchanges, pages, otherwise, lookupMs: timeoutMs = LOOKUP_MS } = given;
  const known = createBoundedCache<string, { content: Buffer; readAt: number }>(CAPACITY);
  const lookups = createCoalescedQueries((names) => pictureContents(pool, names), { ...LIMITS, timeoutMs });

  /** Returns the picture; null: there is none; undefined: it cannot be read now. */
  async function read(name: string): Promise<Buffer | null | undefined> {
    const cached = known.get(name);
    if (cached && performance.now() - cached.readAt < FRESH_MS) return cached.content;
    try {
      const content = await lookups.query(name);
      if (content) known.set(name, { content, readAt: performance.now() });
      else known.delete(name);
      return content;
    } catch (error) {
      if (!(error instanceof LookupUnavailable)) throw error;
      return cached?.content;
    }
  }

  return (res, req, head) => {
    const picture = pictureAt(req.getUrl());
    if (picture === null) return otherwise(res, req, head);
    const { name, format } = picture;
    const isKnown = req.getHeader('if-none-match').includes(`"${name}"`);
    const acceptLanguage = req.getHeader('accept-language');
    const exchange = exchanges.open(res, head);
    exchanges.after(exchange, read(name), (content) => {
      if (content === undefined) {
        const { headers, body } = pages.of({ acceptLanguage }, null).unavailable;
        exchanges.reply(exchange, '503 Service Unavailable', headers, body);
      } else if (content === null) {
        const { headers, body } = pages.of({ acceptLanguage }, null).notFound;
        exchanges.reply(exchange, '404 Not Found', headers, body);
      } else if (isKnown) {
        exchanges.reply(exchange, '304 Not Modified', headersOf(name, format));
      } else {
        exchanges.reply(exchange, '200 OK', headersOf(name, format), content);
      }
    });
  };
}

function headersOf(name: string, format: PictureFormat): Headers {
  return [
    ['Content-Type', PICTURE_TYPES[format]],
    ['Cache-Control', 'public, max-age=31536000, immutable'],
    ['ETag', `"${name}"`],
    // A picture alone, whatever a browser would make of its bytes.
    ['X-Content-Type-Options', 'nosniff'],
    ['Content-Security-Policy', "default-src 'none'; sandbox"],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ];
}
