import { Type } from 'typebox';
import { DIMENSIONS, METRICS, OPERATORS } from '../../core/analytics/dimensions.ts';
import { OneOf } from '../schemas.ts';
import { filled, MOST_ROWS, type ReadTool, readTool, rowsSentence } from './tool.ts';

/** Tools that read figures, clicks, and visitors. */

const FEWER = 'ask for less with `filters`, a shorter window, or `limit`';

type Figures = Record<string, number | null>;
type QueryResult = {
  window: { from: string; to: string };
  rows: { dimensions: Record<string, string | number | null>; metrics: Figures; compared?: Figures }[];
  totals: Figures;
  compared_totals?: Figures;
  names?: Record<string, Record<string, { name: string; note?: string }>>;
  total_rows: number;
};

const Instant = (description: string) => Type.Optional(Type.String({ maxLength: 40, description }));
const Rows = (what: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_ROWS, default: 20, description: `Most ${what}.` }));

const whoami = readTool({
  name: 'whoami',
  title: 'Who am I',
  description:
    'The workspace of the key, its plan and limits, what the key may do, the currency, the time zone, and the time now. Call it first.',
  needs: ['GET /me'],
  input: Type.Object({}),
  async run(api) {
    const me = await api<{ key: { scopes: string[] }; plan: { tier: string } }>('GET', '/me');
    // A restricted key may not read it.
    const settings = await api<Record<string, unknown>>('GET', '/workspace').catch(
      () => ({}) as Record<string, unknown>,
    );
    const { currency, time_zone: timeZone } = settings;
    const known =
      currency === undefined ? '' : ` Amounts are in ${currency}; days are of ${timeZone ?? 'UTC'}.`;
    return {
      summary: `A key with the scopes ${me.key.scopes.join(', ')}, on the plan ${me.plan.tier}. It is ${new Date().toISOString()}.${known}`,
      untrusted: me,
    };
  },
});

const queryAnalytics = readTool({
  name: 'query_analytics',
  title: 'Query figures',
  description:
    'Clicks, visitors, leads, conversions, and revenue, by up to three dimensions, with filters, for any window. Rows come with ids and names; filter by the id. Orders belong to the click that they are credited to, so revenue has its country and city.',
  needs: ['POST /analytics/query'],
  input: Type.Object({
    metrics: Type.Array(OneOf(METRICS), { minItems: 1, description: 'In the order of the columns.' }),
    dimensions: Type.Optional(
      Type.Array(OneOf(DIMENSIONS), { maxItems: 3, description: 'None: only totals.' }),
    ),
    filters: Type.Optional(
      Type.Array(
        Type.Object({
          dimension: OneOf(DIMENSIONS),
          operator: Type.Optional(OneOf(OPERATORS, { description: '`is` by default.' })),
          values: Type.Optional(
            Type.Array(Type.Union([Type.String(), Type.Number()]), {
              description: 'Any of them. Countries are codes such as DE; campaign, link, and folder are ids.',
            }),
          ),
        }),
        { maxItems: 20, description: 'All of them must hold.' },
      ),
    ),
    window: Type.Optional(
      Type.Object(
        {
          days: Type.Optional(Type.Integer({ minimum: 1 })),
          from: Instant('ISO 8601; a date alone is midnight of the time zone.'),
          to: Instant('Exclusive.'),
        },
        { description: '`days` back from now, or `from` and `to`. The last 30 days by default.' },
      ),
    ),
    compare: Type.Optional(OneOf(['previous'], { description: 'Adds the period before the window.' })),
    time_zone: Type.Optional(
      Type.String({ maxLength: 100, description: 'IANA; that of the workspace by default.' }),
    ),
    order_by: Type.Optional(
      Type.Array(
        Type.Object({ by: Type.String({ maxLength: 40 }), direction: Type.Optional(OneOf(['asc', 'desc'])) }),
        { maxItems: 5, description: 'By default the first metric, largest first.' },
      ),
    ),
    limit: Rows('rows'),
    offset: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  async run(api, { filters = [], ...query }) {
    const body = { ...query, filters: filters.map((filter) => ({ operator: 'is', ...filter })) };
    const result = await api<QueryResult>('POST', '/analytics/query', { body });
    const isMoney = query.metrics.some((metric) => metric.startsWith('revenue'));
    const { currency } = isMoney
      ? await api<{ currency: string }>('GET', '/workspace')
      : { currency: undefined };
    const rows = result.rows.map(({ dimensions, metrics, compared }) => ({
      ...named(dimensions, result.names),
      ...metrics,
      ...(compared && { compared }),
    }));
    const { from, to } = result.window;
    const shown = `${rowsSentence(rows.length, 'row', moreRows(result, query.offset ?? 0))} From ${from} to ${to}.`;
    return {
      summary: currency === undefined ? shown : `${shown} Amounts are in ${currency}.`,
      untrusted: filled({ rows, totals: result.totals, compared_totals: result.compared_totals }),
    };
  },
});

function moreRows({ rows, total_rows: total }: QueryResult, offset: number): string | null {
  const next = offset + rows.length;
  return next < total ? `${total} rows in all; the next begin at \`offset\` ${next}, or ${FEWER}` : null;
}

/** Values of dimensions; an id also has its name. */
function named(dimensions: QueryResult['rows'][number]['dimensions'], names: QueryResult['names'] = {}) {
  return Object.fromEntries(
    Object.entries(dimensions).map(([dimension, value]) => {
      const known = names[dimension]?.[String(value)];
      return [dimension, known === undefined ? value : { id: value, ...known }];
    }),
  );
}

const listClicks = readTool({
  name: 'list_clicks',
  title: 'List clicks',
  description:
    'Single clicks, newest first, with place, device, referer, and visitor. For counts use query_analytics.',
  needs: ['GET /clicks'],
  input: Type.Object({
    link_id: Type.Optional(Type.String({ format: 'uuid' })),
    since: Instant('Clicks of this instant and later.'),
    before: Instant('Clicks before this instant: the `next_cursor` of the page before.'),
    filters: Type.Optional(
      Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 2_000 }), {
        description: 'By the filters of GET /clicks: { "country": "DE,AT", "not_device": "mobile" }.',
      }),
    ),
    bots: Type.Optional(OneOf(['exclude', 'include'])),
    limit: Rows('clicks'),
  }),
  async run(api, { filters = {}, ...query }) {
    const page = await api<{ clicks: object[]; next_cursor: string | null }>('GET', '/clicks', {
      query: { ...filters, ...query },
    });
    const more = page.next_cursor && `the next begin with \`before\` ${page.next_cursor}, or ${FEWER}`;
    return { summary: rowsSentence(page.clicks.length, 'click', more), untrusted: page.clicks.map(filled) };
  },
});

const getVisitorJourney = readTool({
  name: 'get_visitor_journey',
  title: 'Get the journey of a visitor',
  description:
    'What a visitor did: clicks, identification, and orders, newest first. The id is `visitor_id` of a click.',
  needs: ['GET /visitors/:id/journey'],
  input: Type.Object({ visitor_id: Type.String({ format: 'uuid' }), limit: Rows('steps') }),
  async run(api, { visitor_id: id, limit = 20 }) {
    const { visitor, journey } = await api<{ visitor: object; journey: { ts: string }[] }>(
      'GET',
      `/visitors/${encodeURIComponent(id)}/journey`,
      { query: { include: 'details' } },
    );
    const steps = journey.toSorted((a, b) => (a.ts < b.ts ? 1 : -1)).slice(0, limit);
    const more =
      steps.length < journey.length ? `${journey.length} in all; \`limit\` is at most ${MOST_ROWS}` : null;
    return {
      summary: rowsSentence(steps.length, 'step', more),
      untrusted: { visitor, journey: steps.map(filled) },
    };
  },
});

export const REPORT_TOOLS: readonly ReadTool[] = [whoami, queryAnalytics, listClicks, getVisitorJourney];
