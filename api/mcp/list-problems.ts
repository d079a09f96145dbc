import { Type } from 'typebox';
import { ApiRefusal, type CallApi } from './calls.ts';
import { filled, MOST_ROWS, type ReadTool, type Route, readTool } from './tool.ts';

type Source = { what: string; route: Route; read: (api: CallApi, limit: number) => Promise<object[]> };

type Row = Record<string, unknown> & { id: string };

/** Webhooks and connections whose events are read, each by a call. */
const MOST_OPENED = 10;

/** What was refused, blocked, or failed, each from its own part of the API. */
const SOURCES: readonly Source[] = [
  {
    what: 'reports of the pixel and of /track that were refused or corrected',
    route: 'GET /pixel/problems',
    read: async (api) => (await api<{ problems: object[] }>('GET', '/pixel/problems')).problems,
  },
  {
    what: 'signups of referrals that were blocked',
    route: 'GET /signups',
    read: async (api, limit) =>
      (await api<{ signups: object[] }>('GET', '/signups', { query: { blocked: true, limit } })).signups,
  },
  {
    what: 'purchases that no referrer gets a reward for',
    route: 'GET /purchases',
    read: async (api, limit) =>
      (await api<{ purchases: object[] }>('GET', '/purchases', { query: { rewarded: false, limit } }))
        .purchases,
  },
  {
    what: 'events of connected providers that failed or match no one',
    route: 'GET /connections',
    read: (api, limit) =>
      ofEach(api, '/connections', 'connections', ['failed', 'unmatched'], limit, ({ id, provider }) => ({
        connection_id: id,
        provider,
      })),
  },
  {
    what: 'webhooks that are disabled, and deliveries that failed',
    route: 'GET /webhooks',
    async read(api, limit) {
      const { webhooks } = await api<{ webhooks: Row[] }>('GET', '/webhooks', {
        query: { limit: MOST_OPENED },
      });
      const disabled = webhooks.filter((hook) => hook.disabled_at !== null);
      const failed = await ofEach(api, '/webhooks', 'webhooks', ['failed'], limit, ({ id, url }) => ({
        webhook_id: id,
        url,
      }));
      return [...disabled, ...failed];
    },
  },
];

/** Reads events of each webhook or connection with one of the statuses. */
async function ofEach(
  api: CallApi,
  path: '/webhooks' | '/connections',
  list: 'webhooks' | 'connections',
  statuses: readonly string[],
  limit: number,
  describe: (row: Row) => object,
): Promise<object[]> {
  const page = await api<Record<string, Row[]>>('GET', path, { query: { limit: MOST_OPENED } });
  const events = list === 'webhooks' ? 'deliveries' : 'events';
  const found: object[] = [];
  for (const row of page[list] ?? []) {
    for (const status of statuses) {
      const query = { status, limit };
      const read = await api<Record<string, object[]>>('GET', `${path}/${row.id}/${events}`, { query });
      found.push(...(read[events] ?? []).map((event) => ({ ...describe(row), ...event })));
    }
  }
  return found;
}

/** `list_problems`: what was refused, and why. */
export const listProblems: ReadTool = readTool({
  name: 'list_problems',
  title: 'List problems',
  description:
    'What was refused, blocked, or failed, and why: reports of the pixel, signups, purchases, events of billing providers, webhooks.',
  needs: SOURCES.map(({ route }) => route),
  anyOf: true,
  input: Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'Most problems of each kind.' }),
    ),
  }),
  async run(api, { limit = 5 }) {
    const found: Record<string, object[]> = {};
    const unread: string[] = [];
    let left = MOST_ROWS;
    for (const { what, read } of SOURCES) {
      try {
        const rows = (await read(api, limit)).slice(0, Math.min(limit, left)).map(filled);
        left -= rows.length;
        if (rows.length > 0) found[what] = rows;
      } catch (error) {
        // A restricted key, or a plan, may not include it.
        if (!(error instanceof ApiRefusal) || ![402, 403].includes(error.status)) throw error;
        unread.push(`${what} (${error.code})`);
      }
    }
    const count = MOST_ROWS - left;
    const said = count === 0 ? 'There are no problems.' : `${count} problems, at most ${limit} of each kind.`;
    return {
      summary: unread.length === 0 ? said : `${said} Not read: ${unread.join('; ')}.`,
      untrusted: found,
    };
  },
});
