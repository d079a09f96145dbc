import { AppError } from '../../core/errors.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { partnerWorkspace } from '../../sql/workspaces/partner-workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { provision } from './provision.ts';
import { ExternalIdParams, PartnerWorkspaceAnswer, ProvisionBody, Provisioned } from './schemas.ts';

const tags = ['Partner workspaces'];

/** Workspaces that a platform runs for its customers. Asked for with a partner key. */
export async function partnerRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.post(
    '/partner/workspaces',
    {
      config: { scope: 'partner', idempotent: 'unkept' },
      schema: {
        tags,
        operationId: 'provisionWorkspace',
        summary: 'Make a workspace for a customer, or find it',
        description: PROVISION_DESCRIPTION,
        body: ProvisionBody,
        response: {
          201: { description: 'The workspace was made; `key` is its first secret key.', ...Provisioned },
          200: {
            description: 'It exists. `key` is null, or a new secret key with `rotate_key: true`.',
            ...Provisioned,
          },
        },
      },
    },
    async ({ body, partner, server }, reply) => {
      const answer = await server.workspaceTurns(partner.id, () =>
        inTransaction(pool, (tx) => provision(tx, partner, body)),
      );
      return reply
        .header('cache-control', 'no-store')
        .status(answer.made ? 201 : 200)
        .send(answer.body);
    },
  );

  app.get(
    '/partner/workspaces/:external_id',
    {
      config: { scope: 'partner' },
      schema: {
        tags,
        operationId: 'getPartnerWorkspace',
        summary: "One of the partner's workspaces",
        description:
          'The `external_id` is URL-encoded. `.` and `..` can not be asked for: clients take them out of an address, encoded or not. Repeat the POST for those. Never returns a key.',
        params: ExternalIdParams,
        response: { 200: PartnerWorkspaceAnswer },
      },
    },
    async ({ params, partner }) => {
      const workspace = await partnerWorkspace(pool, partner.id, params.external_id);
      if (!workspace) throw new AppError('not_found', 'none of your workspaces has this external_id');
      return { workspace };
    },
  );
}

const PROVISION_DESCRIPTION = `Safe to repeat: there is one workspace per \`external_id\` and partner, however often
and however many at once you call. \`Idempotency-Key\` changes nothing here: an answer with a key is not kept.

| Outcome | Status | \`key\` |
|---|---|---|
| made | 201 | a secret workspace key |
| exists | 200 | \`null\` |
| exists, \`rotate_key: true\` | 200 | a new secret workspace key |

A rotation revokes every key that you have minted for the workspace before; keys that its team has made stay. The
key is labelled \`partner:<partner name>\`, is shown once and works on all other endpoints. The workspace is on the
unlimited plan; \`GET /me\` says \`partner_managed: true\`. A lost key is replaced with \`rotate_key\`.`;
