import { AppError } from '../../core/errors.ts';
import { partnerWorkspace } from '../../sql/workspaces/partner-workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { secretOnce, withIdempotency } from '../plugins/idempotency.ts';
import { provision } from './provision.ts';
import { ExternalIdParams, PartnerWorkspaceAnswer, ProvisionBody, Provisioned } from './schemas.ts';

const tags = ['Partner workspaces'];

/** Registers the routes of workspaces that a platform runs for its customers. Partner key. */
export async function partnerRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.post(
    '/partner/workspaces',
    {
      config: { scope: 'partner', idempotent: true },
      schema: {
        tags,
        operationId: 'partnerWorkspaces.provision',
        summary: 'Create or find the workspace of a customer',
        description: PROVISION_DESCRIPTION,
        body: ProvisionBody,
        response: {
          201: { ...Provisioned, description: 'The workspace was created. `key` is its first secret key.' },
          200: {
            ...Provisioned,
            description: 'The workspace exists. `key` is null, or a new secret key with `rotate_key: true`.',
          },
        },
      },
    },
    async (request, reply) => {
      const { body, partner } = request;
      if (partner === undefined) throw new Error('the route has no partner');
      reply.header('cache-control', 'no-store');
      return withIdempotency(pool, request, reply, async (tx) => {
        const { made, body: provisioned } = await provision(tx, partner, body);
        const { key, ...rest } = provisioned;
        const status = made ? 201 : 200;
        if (key === null) return { status, body: provisioned };
        await request.audit(tx, { workspaceId: rest.workspace.id });
        return secretOnce(status, provisioned, { ...rest, key: null });
      });
    },
  );

  app.get(
    '/partner/workspaces/:external_id',
    {
      config: { scope: 'partner' },
      schema: {
        tags,
        operationId: 'partnerWorkspaces.get',
        summary: 'Get the workspace of a customer',
        description:
          'The `external_id` is URL-encoded. The ids `.` and `..` do not work in a path, because clients remove them, encoded or not; repeat the `POST` for those. Never returns a key.',
        params: ExternalIdParams,
        response: { 200: PartnerWorkspaceAnswer },
      },
    },
    async ({ params, partner }) => {
      const workspace = await partnerWorkspace(pool, partner.id, params.external_id);
      if (!workspace) throw new AppError('not_found', 'none of your workspaces has this `external_id`');
      return { workspace };
    },
  );
}

const PROVISION_DESCRIPTION = `Safe to repeat and to call concurrently: each \`external_id\` of a partner has one workspace. With an
\`Idempotency-Key\` a repeated call does nothing and answers as the first did, without the key.

| Outcome | Status | \`key\` |
|---|---|---|
| created | 201 | a secret workspace key |
| exists | 200 | \`null\` |
| exists, \`rotate_key: true\` | 200 | a new secret workspace key |

A rotation revokes every key that you created for the workspace earlier, with the keys and members that those created.
Keys created by its team stay valid. The key cannot manage keys, members or settings (\`manage: false\`). It is labeled \`partner:<partner name>\`, is shown once and works on all other endpoints. The workspace is on the unlimited plan;
\`GET /me\` returns \`partner_managed: true\`. To replace a lost key, use \`rotate_key\`.`;
