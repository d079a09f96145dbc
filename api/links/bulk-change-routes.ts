import { Type } from 'typebox';
import { checkedWithin, checkWithin } from '../../core/errors.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { toRecord } from '../../sql/links/link-record.ts';
import type { Api, ApiDeps, FastifyRequest } from '../dependencies.ts';
import { ErrorBody } from '../error-schemas.ts';
import { envelope, toAppError } from '../plugins/errors.ts';
import { Body, Ok, Uuid } from '../schemas.ts';
import type { RowResult } from './bulk.ts';
import { changeLink, checkChange, readChangeRequest, removeLink } from './change.ts';
import { BulkResults, ChangeBody, LinkRecord } from './schemas.ts';

/** Maximum number of links of one call. */
const MOST_IDS = 500;

const Ids = Type.Array(Uuid, { minItems: 1, maxItems: MOST_IDS });
const BulkChange = Body(
  { ids: Ids, set: { ...ChangeBody, description: 'The body of `PATCH /links/:id`, for each link.' } },
  { title: 'BulkUpdateLinks' },
);
const BulkDelete = Body({ ids: Ids }, { title: 'BulkDeleteLinks' });

const ROW = {
  index: Type.Integer({ description: 'Index of the id in the request, from 0.' }),
  status: Type.Integer({ description: 'The status that the call for this link alone would respond with.' }),
};
const Changed = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        { ...ROW, body: Type.Union([LinkRecord, ErrorBody]) },
        { title: 'BulkUpdateResult', description: 'What `PATCH /links/:id` would respond with.' },
      ),
    ),
  },
  { title: 'BulkUpdateResults' },
);
const Deleted = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        { ...ROW, body: Type.Union([Ok, ErrorBody]) },
        { title: 'BulkDeleteResult', description: 'What `DELETE /links/:id` would respond with.' },
      ),
    ),
  },
  { title: 'BulkDeleteResults' },
);

/** Registers `PATCH /links/bulk` and `DELETE /links/bulk`. Each link is changed in a transaction of its own. */
export async function linkBulkChangeRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config, blockedDomains } = deps;
  const { shortUrl } = config;

  /** Runs one step for each link. A refused one does not affect the others. */
  async function each(
    request: FastifyRequest,
    ids: readonly string[],
    step: (id: string) => Promise<unknown>,
  ): Promise<{ results: RowResult[] }> {
    const results: RowResult[] = [];
    for (const [index, id] of ids.entries()) {
      try {
        results.push({ index, status: 200, body: await step(id) });
      } catch (error) {
        const answer = toAppError(error);
        // A fault of the server is not the row's: it is thrown and logged, and completed rows stay.
        if (answer.status >= 500) throw error;
        results.push({ index, status: answer.status, body: envelope(answer, request) });
      }
    }
    return { results };
  }

  app.patch(
    '/links/bulk',
    {
      config: {
        scope: 'secret',
        plan: 'paid',
        answers: { 200: Changed },
        bodyWithin: 'set',
        partialLists: ['rules', 'split'],
        checkRest: ({ set = {} }: { set?: ChangeBody }) =>
          checkWithin('set', () => checkChange(set, { shortUrl, blockedDomains })),
      },
      schema: {
        tags: ['Links'],
        operationId: 'links.updateBulk',
        summary: 'Change up to 500 links alike',
        description:
          'Makes the same change to each link, as `PATCH /links/:id` would. Each link has its own result, in the order of the ids; a refused one does not affect the others. An invalid `set` is refused as a whole. Fields of the campaign change for all links of the campaign.',
        body: BulkChange,
        response: { 200: BulkResults },
      },
    },
    async (request) => {
      const { ids, set } = request.body;
      const { workspace } = request.auth;
      const change = await checkedWithin('set', () => readChangeRequest(set, { shortUrl, blockedDomains }));
      // Validation has dropped names that are not fields of a link.
      const fields = Object.keys(set);
      return each(request, ids, async (id) => {
        const link = await app.workspaceQueue(workspace.id, () =>
          inTransaction(pool, async (tx) => {
            const changed = await changeLink(tx, workspace.id, id, change);
            await request.audit(tx, { targetId: id, details: { fields } });
            return changed;
          }),
        );
        return toRecord(link, shortUrl);
      });
    },
  );

  app.delete(
    '/links/bulk',
    {
      config: { scope: 'secret', plan: 'any', answers: { 200: Deleted } },
      schema: {
        tags: ['Links'],
        operationId: 'links.deleteBulk',
        summary: 'Delete up to 500 links',
        description:
          'Deletes each link, as `DELETE /links/:id` would. Each link has its own result, in the order of the ids; a refused one does not affect the others.',
        body: BulkDelete,
        response: { 200: BulkResults },
      },
    },
    async (request) =>
      each(request, request.body.ids, async (id) => {
        await inTransaction(pool, async (tx) => {
          await removeLink(tx, request.auth.workspace.id, id);
          await request.audit(tx, { targetId: id });
        });
        return { ok: true as const };
      }),
  );
}
