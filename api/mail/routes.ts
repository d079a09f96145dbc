import { badRequest } from '../../core/errors.ts';
import { confirmAddress, confirmedBy } from '../../sql/mail/confirmations.ts';
import { listMails } from '../../sql/mail/mails.ts';
import { createMailSealers } from '../../sql/mail/sealer.ts';
import { subscriptionOf, unsubscribe } from '../../sql/mail/unsubscribes.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPageAt } from '../pages.ts';
import { Ok } from '../schemas.ts';
import { MailList, MailQuery, UnsubscribeQuery } from './schemas.ts';

const tags = ['Mail'];

/** Registers the log of a workspace's mails, and the link that ends them. The workers send. */
export async function mailRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  const sealersOf = createMailSealers();

  app.get(
    '/mails',
    {
      config: { scope: 'secret', plan: 'any', role: 'owner', manage: true },
      schema: {
        tags,
        operationId: 'mails.list',
        summary: 'List mails, newest first',
        description:
          'Mails of the last 30 days that are about this workspace, with the mail server’s words where one failed. Their contents are not kept.',
        querystring: MailQuery,
        response: { 200: MailList },
      },
    },
    async ({ auth, query: { status = null, limit, cursor = null } }): Promise<MailList> => {
      const page = { status, before: cursor, limit: limit + 1 };
      const { rows, nextCursor } = cutPageAt(
        await listMails(pool, auth.workspace.id, page),
        limit,
        ({ id }) => id,
      );
      return { mails: rows, next_cursor: nextCursor };
    },
  );

  app.post(
    '/mails/unsubscribe',
    {
      config: { scope: 'public', plan: 'any', console: true },
      schema: {
        tags,
        operationId: 'mails.unsubscribe',
        summary: 'End the mail of a workspace to an address',
        description:
          'The link of `List-Unsubscribe`, which mail programs call with one press (RFC 8058). Mail about the account of the recipient is still sent.',
        querystring: UnsubscribeQuery,
        response: { 200: Ok },
      },
    },
    async ({ query }) => {
      const { unsubscribes } = await sealersOf(pool);
      const subscription = subscriptionOf(unsubscribes, query.token);
      if (!subscription) throw badRequest('token', 'must be that of a mail of this service');
      await unsubscribe(pool, subscription);
      return { ok: true as const };
    },
  );

  app.post(
    '/mails/confirm',
    {
      config: { scope: 'public', plan: 'any', console: true },
      schema: {
        tags,
        operationId: 'mails.confirm',
        summary: 'Confirm an address for the mail of a workspace',
        description:
          'The link of the first mail to an address without a membership: from then on it gets the reports that name it.',
        querystring: UnsubscribeQuery,
        response: { 200: Ok },
      },
    },
    async ({ query }) => {
      const { unsubscribes } = await sealersOf(pool);
      const confirmed = confirmedBy(unsubscribes, query.token);
      if (!confirmed) throw badRequest('token', 'must be that of a mail of this service');
      await confirmAddress(pool, confirmed);
      return { ok: true as const };
    },
  );

  // A mail program that does not call the address opens it.
  app.get(
    '/mails/unsubscribe',
    {
      config: { scope: 'public', plan: 'any', page: true },
      exposeHeadRoute: false,
      schema: { hide: true, querystring: UnsubscribeQuery },
    },
    async ({ query }, reply) =>
      reply.redirect(`${config.appUrl}/console/unsubscribe#${encodeURIComponent(query.token)}`),
  );
}
