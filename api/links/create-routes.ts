import { toRecord } from '../../sql/links/link-record.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { UnstorableRow } from '../input/body.ts';
import { type FieldSchema, ignoredNames, readFields, type UnknownField } from '../input/body-fields.ts';
import { bodyCheck } from '../input/validation.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { createInBulk, readBulkRows, readRow } from './bulk.ts';
import { createLinks } from './create.ts';
import { checkRest, readCreateRequest, withoutIgnored } from './create-request.ts';
import {
  BulkBody,
  BulkBodyShown,
  BulkResults,
  BulkResultsShown,
  CreateBody,
  CreatedLinks,
} from './schemas.ts';

/** Bytes of a bulk body: 1,000 rows of 16 KiB; one row has at most 64 KiB. */
const BULK_BODY_LIMIT = 16 * 1_048_576;

/** Registers `POST /links` and `POST /links/bulk`. Any plan, up to its cap of links. */
export async function linkCreateRoutes(app: Api, { config, pool, blockedDomains }: ApiDeps): Promise<void> {
  const { shortUrl } = config;
  const rules = { shortUrl, blockedDomains };

  app.post(
    '/links',
    {
      config: {
        scope: 'secret',
        plan: 'any',
        idempotent: true,
        errors: ['limit_reached', 'not_found', 'conflict'],
        checksAll: true,
        partialLists: ['rules', 'split'],
        checkRest: (body: CreateBody, faulty) => checkRest(body, faulty, rules),
      },
      schema: {
        tags: ['Links'],
        operationId: 'links.create',
        summary: 'Create a campaign with links, or add links to a campaign',
        description: CREATE_DESCRIPTION,
        body: CreateBody,
        response: {
          201: { ...CreatedLinks, description: 'The created links.' },
          200: {
            ...CreatedLinks,
            description: 'A link with this `external_id` exists. Nothing was created.',
          },
        },
      },
      preValidation: async (request) => {
        request.body = withoutIgnored(request.body) as CreateBody;
      },
    },
    async (request, reply) => {
      const wanted = await readCreateRequest(request.body, rules);
      return withIdempotency(pool, request, reply, async (tx) => {
        const workspace = await lockWorkspace(tx, request.auth.workspace.id);
        const created = await createLinks(tx, workspace, wanted);
        return {
          status: created.made ? 201 : 200,
          body: {
            destination_id: created.destinationId,
            links: created.links.map((link) => toRecord(link, shortUrl)),
          },
        };
      });
    },
  );

  const checkRow = bodyCheck(CreateBody, {
    check: (body: CreateBody, faulty) => checkRest(body, faulty, rules),
    lists: ['rules', 'split'],
  });
  app.post(
    '/links/bulk',
    {
      bodyLimit: BULK_BODY_LIMIT,
      config: {
        scope: 'secret',
        plan: 'any',
        idempotent: true,
        rows: 'links',
        document: { body: BulkBodyShown },
        answers: { 200: BulkResultsShown },
      },
      schema: {
        tags: ['Links'],
        operationId: 'links.createBulk',
        summary: 'Create up to 1,000 campaigns or links in one call',
        description:
          'Each row has its own result, in the order of the rows: the status and body that `POST /links` would respond with. A refused row does not affect the others. The rows of a call make at most 2,000 links together. The `Idempotency-Key` covers the whole call.',
        body: BulkBody,
        response: { 200: BulkResults },
      },
    },
    async (request, reply) => {
      const unknown: UnknownField[] = [];
      let row = 0;
      const readNamed: typeof readRow = (given, ...how) => {
        const at = ['links', String(row++)];
        if (!(given instanceof UnstorableRow)) {
          const found = readFields(CreateBody as FieldSchema, given);
          unknown.push(...found.map((field) => ({ ...field, path: [...at, ...field.path] })));
        }
        return readRow(given, ...how);
      };
      const slices = app.beginSlices();
      const rows = await readBulkRows(request.body.links, checkRow, rules, slices, readNamed);
      const ignored = ignoredNames(unknown);
      if (ignored !== null) reply.header('x-ignored-fields', ignored);
      return withIdempotency(pool, request, reply, async (tx) => ({
        status: 200,
        body: { results: await createInBulk(tx, request, rows, shortUrl) },
      }));
    },
  );
}

const CREATE_DESCRIPTION = `Send exactly one of \`channel\`, \`channels\` and \`smart: true\`.

- \`external_id\` is allowed if exactly one link is created. If a link of the workspace already has it, the response is
  200 with that link, whatever else the body says.
- \`destination_id\` adds links to a campaign, which keeps its URL, name, tags and folder. Settings that are not sent
  (\`utm_campaign\`, \`targeting\`, \`rules\`, \`split\`, \`expires_at\`, \`max_clicks\`, \`expired_redirect_url\`,
  \`password\`, \`retargeting\`) are inherited from the campaign's oldest link; \`null\` leaves a setting out.
- A campaign has one link per channel and one Smart Link. A second one needs a distinct \`external_id\`, else 409.
- \`slug\` is used verbatim for one link and as \`<slug>-<channel>\` for several; 409 if taken. If the campaign's link on
  the same channel has it, the new link gets the first free slug of \`<slug>-2\`, \`<slug>-3\`, and so on.
- The first own-site destination sets the workspace's \`primary_domain\` to its registrable domain. Another domain needs
  \`external: true\`.
- \`utm_campaign\` defaults to the campaign's name and is fixed when the link is created. \`utm_source\` is the channel,
  \`utm_medium\` is \`social\` (\`local\` for \`google_business\`). Both are null for a Smart Link; each of its clicks gets
  those of the inferred channel.
- \`rules\`, then \`targeting\`, then \`split\` decide between destinations. \`targeting.ios\`, \`targeting.android\` and rules
  with a condition on \`os\` may lead to an app (\`myapp://product/17\`).
- \`destination_url\`, \`targeting\` and \`expired_redirect_url\` are \`https://\` URLs (\`http://\` for loopback hosts only)
  without credentials, and do not lead back to the short-link origin.`;
