import { Readable } from 'node:stream';
import { badRequest } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { formatInstant, requireInstant } from '../../core/time/timestamps.ts';
import { type AuditEntry as Entry, listAuditEntries } from '../../sql/audit/audit-log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { maskEmail } from '../referrals/payout-method.ts';
import { ACTORS, type AuditEntry, type AuditFilter, AuditLog, AuditQuery } from './schemas.ts';

/** Entries read from PostgreSQL at a time for a file. */
const CHUNK = 500;

const ANSWER = {
  description: 'Entries as one JSON object, or with `format=ndjson` one `AuditEntry` a line.',
  content: {
    'application/json': { schema: AuditLog },
    'application/x-ndjson': { schema: { type: 'string' } },
  },
};

/** Registers `GET /audit-log`. A key with `manage`, or an owner's session; any plan. */
export async function auditRoutes(app: Api, { pool }: Pick<ApiDeps, 'pool'>): Promise<void> {
  app.get(
    '/audit-log',
    {
      config: { scope: 'secret', plan: 'any', role: 'owner', manage: true, answers: { 200: ANSWER } },
      // A HEAD would read the whole log for nothing.
      exposeHeadRoute: false,
      schema: {
        tags: ['Audit log'],
        operationId: 'audit.list',
        summary: 'List audit entries, newest first',
        description:
          'Sign-ins and failed ones, exports, and changes of access, links, pages and referrals. Append-only; kept for 13 months. Entries have no secret, email or network address.',
        querystring: AuditQuery,
        response: { 200: AuditLog },
      },
    },
    async (request, reply) => {
      const { auth } = request;
      const { limit, cursor, format } = request.query;
      const filter = filterOf(request.query);
      const before = readCursor(cursor);
      const { id } = auth.workspace;
      if (format === 'ndjson') {
        await request.audit(pool);
        const lines = Readable.from(linesOf(pool, id, filter, before));
        // The declared type of the response is that of JSON.
        return reply.type('application/x-ndjson; charset=utf-8').send(lines as never);
      }
      const { rows, nextCursor } = cutPage(
        await listAuditEntries(pool, id, { ...filter, before, limit: limit + 1 }),
        limit,
      );
      return { entries: rows.map(shown), next_cursor: nextCursor };
    },
  );
}

/** @throws {AppError} `bad_request` for an actor that no entry can have */
function filterOf({ since, action, actor }: AuditFilter) {
  const type = ACTORS.find((one) => one === actor?.toLowerCase());
  if (actor !== undefined && type === undefined && !isUuid(actor)) {
    throw badRequest('actor', `must be the id of an actor, or one of ${ACTORS.join(', ')}`);
  }
  const from = since === undefined ? null : formatInstant(requireInstant('since', since), 6);
  return { since: from, action: action ?? null, actor: type ?? actor?.toLowerCase() ?? null };
}

async function* linesOf(
  pool: Pool,
  workspaceId: string,
  filter: ReturnType<typeof filterOf>,
  from: string | null,
): AsyncGenerator<string> {
  for (let before = from; ; ) {
    const rows = await listAuditEntries(pool, workspaceId, { ...filter, before, limit: CHUNK });
    if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(shown(row))}\n`).join('');
    const last = rows.at(-1);
    if (!last || rows.length < CHUNK) return;
    before = last.created_at;
  }
}

const shown = (row: Entry): AuditEntry => ({
  id: row.id,
  at: row.created_at,
  actor: {
    type: row.actor_type,
    id: row.actor_id,
    name: row.actor_type === 'member' && row.actor_name !== null ? maskEmail(row.actor_name) : row.actor_name,
  },
  action: row.action,
  target: { type: row.target_type, id: row.target_id },
  ip_hash: row.ip_hash,
  details: row.details,
});
