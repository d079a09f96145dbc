import { AppError, badRequest } from '../../core/errors.ts';
import { uuidv7 } from '../../core/ids.ts';
import { textOf } from '../../core/mail/letter.ts';
import { plainName } from '../../core/mail/plain-name.ts';
import { letterOf } from '../../core/mail/words.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { insertMessage, listMessages, sentSince } from '../../sql/portal/messages.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import { actorOf } from '../actor.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPageAt } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { IdParams } from '../schemas.ts';
import {
  MessageBody,
  MessageList,
  MessagePreview,
  MessageQuery,
  MessageRecord,
  MOST_A_DAY,
  MOST_RECIPIENTS,
} from './schemas.ts';
import { checkMessage, writeMessage } from './write.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Referrals'];
const DAY_MS = 86_400_000;

const noSuchMessage = () => new AppError('not_found', 'the workspace has no such message');

/** Registers messages of a workspace to its referrers, which the workers mail. Secret key, paid plan. */
export async function messageRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  const outbox = createOutbox(config.mail !== null);

  app.get(
    '/messages',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'messages.list',
        summary: 'List messages to referrers, newest first',
        querystring: MessageQuery,
        response: { 200: MessageList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const listed = await listMessages(pool, auth.workspace.id, {
        id: null,
        before: cursor ?? null,
        limit: limit + 1,
      });
      const page = cutPageAt(listed, limit, ({ id }) => id);
      return { messages: page.rows, next_cursor: page.nextCursor };
    },
  );

  app.get(
    '/messages/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'messages.get',
        summary: 'Get a message',
        params: IdParams,
        response: { 200: MessageRecord },
      },
    },
    async ({ auth, params: { id } }) => {
      const [message] = await listMessages(pool, auth.workspace.id, { id, before: null, limit: 1 });
      if (!message) throw noSuchMessage();
      return message;
    },
  );

  app.post(
    '/messages',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        errors: ['not_found', 'conflict', 'too_many_requests'],
        checkRest: checkMessage,
      },
      schema: {
        tags,
        operationId: 'messages.send',
        summary: 'Send a message to referrers',
        description: `A plain mail to each, once, in the name of the workspace, with \`List-Unsubscribe\`. Give \`group_id\`, \`program_id\`, or \`partner_ids\`. At most ${MOST_RECIPIENTS} referrers a message, and ${MOST_A_DAY} mails of messages in 24 hours; more are a 429. A 409 without a mail server.`,
        body: MessageBody,
        response: { 201: MessageRecord },
      },
    },
    async (request, reply) => {
      const { auth, body } = request;
      if (!outbox.isOn)
        throw new AppError('conflict', 'the service has no mail server: the operator sets `SMTP_URL`');
      return withIdempotency(pool, request, reply, async (tx) => {
        const now = new Date();
        // Two messages at the same time must not both fit into the day.
        const workspace = await lockWorkspace(tx, auth.workspace.id);
        const { addressed, mails, leftOut } = await writeMessage(tx, workspace, body, config);
        if (mails.length === 0) throw badRequest(nameOf(addressed), 'has no referrer who gets mail');
        const sent = await sentSince(tx, workspace.id, new Date(now.getTime() - DAY_MS));
        if (sent.mails + mails.length > MOST_A_DAY) throw tooMany(sent, mails.length, now);
        const id = uuidv7();
        const { programId, groupId } = addressed;
        const { subject, text } = body;
        await insertMessage(
          tx,
          {
            id,
            workspaceId: workspace.id,
            programId,
            groupId,
            subject,
            text,
            leftOut,
            sentBy: actorOf(request),
            now,
          },
          mails,
        );
        await outbox.queue(
          tx,
          mails.map(({ mailId, email, content }) => ({
            id: mailId,
            workspaceId: workspace.id,
            recipient: email,
            content,
          })),
        );
        await request.audit(tx, { targetId: id, details: { recipients: mails.length } });
        const [made] = await listMessages(tx, workspace.id, { id, before: null, limit: 1 });
        if (!made) throw new Error(`message ${id} is gone`);
        return { status: 201, body: made };
      });
    },
  );

  app.post(
    '/messages/preview',
    {
      config: { ...CONFIG, errors: ['not_found'], checkRest: checkMessage },
      schema: {
        tags,
        operationId: 'messages.preview',
        summary: 'Preview a message to referrers',
        description: 'Sends nothing. Shows the mail of the first recipient, and who does not get it.',
        body: MessageBody,
        response: { 200: MessagePreview },
      },
    },
    async ({ auth: { workspace }, body }) => {
      const { mails, leftOut } = await inTransaction(pool, (tx) => writeMessage(tx, workspace, body, config));
      const [first] = mails;
      const counts = { recipients: mails.length, left_out: leftOut };
      if (!first) return { ...counts, partner_id: null, subject: null, text: null };
      const { content, enrollmentId } = first;
      const setting = { workspaceName: workspace.name, timeZone: null, language: content.language };
      const sender = {
        workspaceName: plainName(workspace.name),
        hasLogo: false,
        appUrl: config.appUrl,
        unsubscribeUrl: `${config.appUrl}/console/unsubscribe`,
        language: content.language,
      };
      const text = textOf(letterOf(content, setting), sender);
      return { ...counts, partner_id: enrollmentId, subject: content.subject, text };
    },
  );
}

const nameOf = ({ groupId, programId }: { groupId: string | null; programId: string | null }) =>
  groupId !== null ? 'group_id' : programId !== null ? 'program_id' : 'partner_ids';

function tooMany(sent: { mails: number; oldest: Date | null }, wanted: number, now: Date): AppError {
  const { mails, oldest } = sent;
  const seconds = Math.ceil(((oldest?.getTime() ?? now.getTime()) + DAY_MS - now.getTime()) / 1_000);
  const said = `a workspace sends at most ${MOST_A_DAY} mails of messages in 24 hours: ${mails} are sent, and this message has ${wanted}`;
  return new AppError('too_many_requests', said, undefined, { retryAfter: Math.max(1, seconds) });
}
