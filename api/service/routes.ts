import { type Static, Type } from 'typebox';
import { mayDo } from '../../core/access/roles.ts';
import { createRedirectHealth } from '../../core/tier/redirect-health.ts';
import { listProblems, PROBLEM_KINDS } from '../../sql/console/problems.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { Instant, Nullable, OneOf, Uuid } from '../schemas.ts';
import { signedIn } from '../session/caller.ts';

const LOSSES = ['clicks_lost', 'conversions_lost'] as const;

const ProblemView = Type.Object(
  {
    kind: OneOf([...LOSSES, ...PROBLEM_KINDS], {
      title: 'ProblemKind',
      description:
        '`clicks_lost`: redirects work, but their clicks are lost, as with a full disk. `conversions_lost`: the API loses identifies and orders of `/track`.',
    }),
    since: Nullable({ ...Instant, description: 'Null: not known.' }),
    id: Nullable({ ...Uuid, description: 'Of the webhook, domain, connection, fulfilment or payout file.' }),
    name: Nullable(
      Type.String({
        description:
          "The webhook's URL, domain, host of destinations, provider, program, limit of the plan, format of a payout file, or currency that it is about.",
      }),
    ),
    count: Nullable(
      Type.Integer({
        description:
          "Orders, purchases, events, destinations, payouts, deliveries or mails; at most 1,000 of events and mails. Of a plan's limit: percent of it.",
      }),
    ),
    reason: Nullable(
      Type.String({ description: 'In words, of a domain; of destinations, the first one and its response.' }),
    ),
  },
  { title: 'Problem' },
);
const ProblemList = Type.Object({ problems: Type.Array(ProblemView) }, { title: 'ProblemList' });
export type ProblemList = Static<typeof ProblemList>;

/** Registers `GET /problems`: the problems that the console shows to a member. */
export async function serviceRoutes(app: Api, { pool, config, eventLog }: ApiDeps): Promise<void> {
  const redirects = createRedirectHealth(config.shortUrl);
  app.get(
    '/problems',
    {
      config: { scope: 'member', plan: 'any', role: 'analyst', console: true },
      schema: {
        tags: ['Service'],
        operationId: 'problems.list',
        summary: 'List what is wrong, the worst first',
        description:
          'Lost clicks and conversions; webhooks, domains, destinations, connections, fulfilments and mails that fail; orders without a rate; payout files that wait for a week; and limits of the plan that are 80 % used, as of the last hour. Owners of a workspace without a partner also see `dead_letters` of the deployment, and mails about accounts.',
        response: { 200: ProblemList },
      },
    },
    async ({ auth: { workspace, ...auth } }): Promise<ProblemList> => {
      const seesDeployment =
        mayDo(signedIn({ workspace, ...auth }).role, 'owner') && workspace.partner_id === null;
      const [state, problems] = await Promise.all([
        redirects(),
        listProblems(pool, workspace.id, seesDeployment),
      ]);
      const lost = { clicks_lost: state === 'degraded', conversions_lost: eventLog.loss() };
      const nothing = { since: null, id: null, name: null, count: null, reason: null };
      return {
        problems: [...LOSSES.filter((kind) => lost[kind]).map((kind) => ({ kind, ...nothing })), ...problems],
      };
    },
  );
}
