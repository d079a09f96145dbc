import { Type } from 'typebox';
import { isPaid } from '../../../core/access/plans.ts';
import { AppError } from '../../../core/errors.ts';
import { inTransaction } from '../../../sql/database/pool.ts';
import { enrollmentById } from '../../../sql/referrals/enrollments.ts';
import { referralAddress } from '../../../sql/referrals/referral-links.ts';
import { workspaceById } from '../../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { createReportLimit } from '../../plugins/report-limit.ts';
import { IdParams, Instant, Url } from '../../schemas.ts';
import { createHashKey } from '../../session/hash-key.ts';
import { noSuchEnrollment } from '../enrollments/service.ts';
import { Stats } from '../schemas.ts';
import { referralStats } from '../stats.ts';
import { createPreviewTokens } from './tokens.ts';

const tags = ['Referrals'];
/** Concurrent reads of a workspace's clicks by previews. */
const AT_A_TIME = 2;

const Preview = Type.Object(
  {
    url: Url,
    expires_at: Instant,
  },
  { title: 'ReferralPreview' },
);

const PreviewQuery = Type.Object({
  days: Type.Integer({ minimum: 7, maximum: 90, default: 30, description: 'UTC days up to today.' }),
});

/**
 * Registers the preview of a referrer's embedded dashboard: a member asks for it, and its page reads with a token of
 * its own.
 */
export async function referralPreviewRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const tokens = createPreviewTokens(createHashKey(pool));
  const limit = createReportLimit(AT_A_TIME);

  app.post(
    '/enrollments/:id/preview',
    {
      config: { scope: 'member', plan: 'paid', role: 'operator', console: true },
      schema: {
        tags,
        operationId: 'enrollments.preview',
        summary: 'Preview the embedded dashboard as a referrer',
        description:
          'The address shows what the referrer sees, with their data, for 15 minutes. Nothing can be changed there.',
        params: IdParams,
        response: { 201: Preview },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { auth, params } = request;
      const workspaceId = auth.workspace.id;
      await inTransaction(pool, async (tx) => {
        if (!(await enrollmentById(tx, workspaceId, params.id))) throw noSuchEnrollment();
        await request.audit(tx);
      });
      const { token, expiresAt } = await tokens.create({ workspaceId, partnerId: params.id }, new Date());
      return reply.code(201).send({
        // The token stays in the browser: no server's log has a fragment.
        url: `${config.appUrl}/embed/referrals?preview=1#${token}`,
        expires_at: expiresAt.toISOString(),
      });
    },
  );

  app.get(
    '/referrals/preview',
    {
      config: {
        scope: 'public',
        plan: 'any',
        console: true,
        errors: ['not_found', 'conflict'],
      },
      schema: {
        tags,
        operationId: 'referrals.preview',
        summary: 'Get the stats of a previewed referrer',
        description: 'With the token of a preview as bearer token. It reads, and enrolls no one.',
        querystring: PreviewQuery,
        response: { 200: Stats },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const now = new Date();
      const [, token = ''] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
      const referrer = await tokens.read(token, now);
      const workspace = referrer && (await workspaceById(pool, referrer.workspaceId));
      if (!workspace || workspace.suspended_at || !isPaid(workspace)) {
        throw new AppError('not_found', 'this preview does not exist, or has ended');
      }
      const { id } = workspace;
      const enrollment = await enrollmentById(pool, id, referrer.partnerId);
      if (!enrollment) throw noSuchEnrollment();
      const address = await referralAddress(pool, enrollment.id);
      if (address === null) throw new AppError('conflict', 'the referrer has no link: enroll the user again');
      const release = await limit.take(id);
      try {
        return await deps.readers.read((clickhouse) =>
          referralStats({ ...deps, clickhouse }, { enrollment, address }, request.query.days, now),
        );
      } finally {
        release();
      }
    },
  );
}
