import type { Operation, RequestOptions } from './operation.ts';
import type { Call, Transport } from './transport.ts';

/** All rows of a list, page by page: `for await (const link of hoplog.links.list())`. */
export interface List<Row, Page> extends AsyncIterable<Row> {
  /** Requests one page: the first, or that of the query's cursor. */
  page(): Promise<Page>;
  /** All pages, from the one of the query's cursor on. */
  pages(): AsyncIterable<Page>;
}

type AnyPage = Record<string, unknown> & { next_cursor?: string | number | null };

/** Returns the list of an operation. It requests nothing before it is read. */
export function listOf(
  transport: Transport,
  operation: Operation,
  call: Call,
  options?: RequestOptions,
): List<unknown, AnyPage> {
  const pageOf = (query: Call['query']) =>
    transport(operation, { ...call, query }, options) as Promise<AnyPage>;
  // Oldest first, a page of clicks ends where the next one begins.
  const cursorName = call.query?.order === 'asc' ? 'since_after' : operation.cursor;
  async function* pages() {
    let query = call.query;
    for (;;) {
      const page = await pageOf(query);
      yield page;
      const cursor = page.next_cursor ?? null;
      if (cursorName === undefined || cursor === null) return;
      query = { ...query, [cursorName]: cursor };
    }
  }
  return {
    page: () => pageOf(call.query),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page[operation.rows ?? ''] as unknown[];
    },
  };
}
