import { createTxtLookup } from '../../core/dns/txt-records.ts';
import { PROOF_LABEL } from '../../core/links/domains.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { domainById, listDomains } from '../../sql/domains/domains.ts';
import { recordCheck } from '../../sql/domains/record-check.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import { DomainBody, DomainChange, DomainDelete, DomainList, DomainQuery, DomainRecord } from './schemas.ts';
import {
  changeDomain,
  checkDomain,
  checkSettings,
  createDomain,
  MOST_DOMAINS,
  noSuchDomain,
  removeDomain,
  toRecord,
} from './service.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Domains'];

/**
 * Registers the routes of a workspace's own domains. Secret key, paid plan. Ingest serves the domains, workers check
 * them.
 */
export async function domainRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config, blockedDomains } = deps;
  const rules = { config, blockedDomains };
  const lookUp = deps.lookUpTxt ?? createTxtLookup(config.dnsServers);

  app.get(
    '/domains',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'domains.list',
        summary: 'List domains, newest first',
        querystring: DomainQuery,
        response: { 200: DomainList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const rows = await listDomains(pool, auth.workspace.id, {
        before: readCursor(cursor),
        limit: limit + 1,
      });
      const page = cutPage(rows, limit);
      return { domains: page.rows.map(toRecord), next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/domains',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        errors: ['conflict'],
        checkRest: (body: Partial<DomainBody>) => void checkDomain(body, rules),
      },
      schema: {
        tags,
        operationId: 'domains.create',
        summary: 'Add a domain',
        description: `Set the DNS record of \`verification\`, then call \`POST /domains/{id}/verify\` or wait: new domains are checked each minute. Two workspaces can wait for one domain; the one that proves it first has it. 409 when another workspace has verified it, or when the workspace has it or ${MOST_DOMAINS} domains.`,
        body: DomainBody,
        response: { 201: DomainRecord },
      },
    },
    async (request, reply) => {
      checkDomain(request.body, rules);
      return withIdempotency(pool, request, reply, async (tx) => {
        const made = await createDomain(tx, request.auth.workspace.id, request.body, rules);
        await request.audit(tx, { targetId: made.id });
        return { status: 201, body: toRecord(made) };
      });
    },
  );

  app.get(
    '/domains/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'domains.get',
        summary: 'Get a domain',
        params: IdParams,
        response: { 200: DomainRecord },
      },
    },
    async ({ auth, params }) => {
      const domain = await domainById(pool, auth.workspace.id, params.id);
      if (!domain) throw noSuchDomain();
      return toRecord(domain);
    },
  );

  app.patch(
    '/domains/:id',
    {
      config: {
        ...CONFIG,
        errors: ['conflict'],
        checksAll: true,
        checkRest: (body: DomainChange) => checkSettings(body, null, rules),
      },
      schema: {
        tags,
        operationId: 'domains.update',
        summary: 'Update a domain',
        description:
          'Send any subset of the fields; `null` clears a field. 409 when a domain that is not verified is to be the default.',
        params: IdParams,
        body: DomainChange,
        response: { 200: DomainRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const changed = await app.workspaceQueue(auth.workspace.id, () =>
        inTransaction(pool, async (tx) => {
          const domain = await changeDomain(tx, auth.workspace.id, params.id, body, rules);
          await request.audit(tx);
          return domain;
        }),
      );
      return toRecord(changed);
    },
  );

  app.post(
    '/domains/:id/verify',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'domains.verify',
        summary: 'Check the DNS record of a domain now',
        description:
          'The response is the domain after the check, also when it is not verified: `problem` says what was found, such as no record, another value, no answer from DNS, or a domain that another workspace has verified.',
        params: IdParams,
        response: { 200: DomainRecord },
      },
    },
    async (request) => {
      const { auth, params } = request;
      const domain = await domainById(pool, auth.workspace.id, params.id);
      if (!domain) throw noSuchDomain();
      const answer = await lookUp(`${PROOF_LABEL}.${domain.domain}`);
      return inTransaction(pool, async (tx) => {
        const checked = await recordCheck(tx, domain.id, answer, new Date());
        if (!checked) throw noSuchDomain();
        await request.audit(tx);
        return toRecord(checked);
      });
    },
  );

  app.delete(
    '/domains/:id',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'domains.delete',
        summary: 'Delete a domain',
        description:
          "Its host is then served as the deployment's own. 409 while links are on it, unless `links` says what happens to them.",
        params: IdParams,
        querystring: DomainDelete,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { auth, params, query } = request;
      await app.workspaceQueue(auth.workspace.id, () =>
        inTransaction(pool, async (tx) => {
          await removeDomain(tx, auth.workspace.id, params.id, query.links);
          await request.audit(tx);
        }),
      );
      return { ok: true as const };
    },
  );
}
