import { inTransaction } from '../../../sql/database/pool.ts';
import { deleteGroup, groupById, listGroups } from '../../../sql/referrals/partner-groups.ts';
import { actorOf } from '../../actor.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { withIdempotency } from '../../plugins/idempotency.ts';
import { IdParams, Ok } from '../../schemas.ts';
import { GroupBody, GroupChange, GroupList, GroupQuery, GroupRecord, MOST_GROUPS } from './schemas.ts';
import { changeGroup, createGroup, groupRecord, noSuchGroup } from './service.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Referrals'];

/** Registers the routes of groups of referrers, which have terms of their own. Secret key, paid plan. */
export async function partnerGroupRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/partner-groups',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'partnerGroups.list',
        summary: 'List partner groups, newest first',
        description: 'Groups of referrers of a program with terms of their own.',
        querystring: GroupQuery,
        response: { 200: GroupList },
      },
    },
    async ({ auth, query: { program_id, limit, cursor } }) => {
      const listed = await listGroups(pool, auth.workspace.id, {
        id: null,
        programId: program_id ?? null,
        before: cursor ?? null,
        limit: limit + 1,
      });
      const page = cutPageAt(listed, limit, ({ id }) => id);
      return { partner_groups: page.rows.map(groupRecord), next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/partner-groups',
    {
      config: { ...CONFIG, idempotent: true, errors: ['not_found', 'conflict'] },
      schema: {
        tags,
        operationId: 'partnerGroups.create',
        summary: 'Create a partner group',
        description: `Gives referrers of a program a rate, a hold period, or a minimum payout of their own. \`PATCH /enrollments/{id}\` with \`group_id\` puts a referrer into it. A program has at most ${MOST_GROUPS} groups; else 409.`,
        body: GroupBody,
        response: { 201: GroupRecord },
      },
    },
    async (request, reply) => {
      const { auth, body } = request;
      return withIdempotency(pool, request, reply, async (tx) => {
        const id = await createGroup(tx, auth.workspace.id, body, new Date());
        await request.audit(tx, { targetId: id });
        const made = await groupById(tx, auth.workspace.id, id);
        if (!made) throw new Error(`group ${id} is gone`);
        return { status: 201, body: groupRecord(made) };
      });
    },
  );

  app.get(
    '/partner-groups/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'partnerGroups.get',
        summary: 'Get a partner group',
        params: IdParams,
        response: { 200: GroupRecord },
      },
    },
    async ({ auth, params }) => {
      const group = await groupById(pool, auth.workspace.id, params.id);
      if (!group) throw noSuchGroup();
      return groupRecord(group);
    },
  );

  app.patch(
    '/partner-groups/:id',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'partnerGroups.update',
        summary: 'Change a partner group',
        description:
          'Sales that are reported from then on earn by the new terms, and payout files use the new minimum. Commissions that were earned keep their amounts and hold periods, and refunds reverse them in proportion. Null takes a term back to the program.',
        params: IdParams,
        body: GroupChange,
        response: { 200: GroupRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      return inTransaction(pool, async (tx) => {
        const changed = await changeGroup(tx, auth.workspace.id, { id: params.id, change: body }, new Date());
        await request.audit(tx);
        return groupRecord(changed);
      });
    },
  );

  app.delete(
    '/partner-groups/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'partnerGroups.delete',
        summary: 'Delete a partner group',
        description: "Its referrers have the program's terms from then on.",
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        const origin = { now: new Date(), by: actorOf(request) };
        if (!(await deleteGroup(tx, request.auth.workspace.id, request.params.id, origin)))
          throw noSuchGroup();
        await request.audit(tx);
        return { ok: true as const };
      }),
  );
}
