import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressHash } from '../../core/addresses/address-hash.ts';
import { isUuid } from '../../core/ids.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import {
  type AuditActor,
  hasRecentAudit,
  type NewAuditEntry,
  recordAudit,
} from '../../sql/audit/audit-log.ts';
import { passwordHolders } from '../../sql/console/members.ts';
import { AUDITED } from '../audit/actions.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { createHashKey } from '../session/hash-key.ts';

/** Members of one email that get an entry of a failed sign-in: anyone may add an email to workspaces of their own. */
const MAX_HOLDERS = 20;

type Fields = Record<string, unknown>;
const fieldsOf = (value: unknown): Fields =>
  value !== null && typeof value === 'object' ? (value as Fields) : {};

/**
 * Appends an entry to the audit log, and writes a log line, for each audited operation that succeeds and each failed
 * sign-in, before the response is sent. An entry that can't be written is logged and does not undo the operation.
 */
export function addAudit(app: Api, deps: ApiDeps): void {
  const key = createHashKey(deps.pool);
  app.decorateRequest('auditIds', null);
  app.addHook('preSerialization', async (request, reply, payload) => {
    if (operationOf(request) in AUDITED && reply.statusCode < 400)
      request.auditIds = idsOf(fieldsOf(payload));
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const operation = operationOf(request);
    const failed = operation === 'session.signIn' || operation === 'session.signInWithPasskey';
    const isAudited = reply.statusCode < 400 && operation in AUDITED && !isRepeat(request, reply);
    if (!isAudited && !(failed && (reply.statusCode === 401 || reply.statusCode === 429))) return payload;
    try {
      const entries = isAudited ? entryOf(request, operation) : await failuresOf(deps, request, reply);
      for (const entry of entries) {
        const ipHash = addressHash(await key(), entry.workspaceId, request.ip);
        await recordAudit(deps.pool, { ...entry, ipHash });
        request.log.info({ audit: { ...entry, ipHash: ipHash?.toString('hex') } }, `audit: ${entry.action}`);
      }
    } catch (error) {
      request.log.error({ err: error, operation }, 'failed to write the audit log; the request continues');
    }
    return payload;
  });
}

const operationOf = ({ routeOptions }: FastifyRequest): string =>
  String(fieldsOf(routeOptions.schema).operationId ?? '');

/** Returns whether the response made nothing: a replay, or a page of the log that is read and not exported. */
const isRepeat = (request: FastifyRequest, reply: FastifyReply): boolean =>
  reply.getHeader('idempotent-replayed') !== undefined ||
  (operationOf(request) === 'audit.list' && fieldsOf(request.query).format !== 'ndjson');

/** Ids that an entry needs from a response: the created object, or the session that began. */
export type AuditIds = { object: string | null; workspace: string | null; member: string | null };

function idsOf(payload: Fields): AuditIds {
  const id = (value: unknown) => (typeof value === 'string' && isUuid(value) ? value : null);
  const session = fieldsOf(payload.session ?? payload);
  return {
    object: id(payload.id) ?? id(fieldsOf(payload.webhook).id),
    workspace: id(fieldsOf(session.workspace).id) ?? id(fieldsOf(payload.workspace).id),
    member: id(fieldsOf(session.member).id),
  };
}

function entryOf(request: FastifyRequest, operation: string): NewAuditEntry[] {
  const audited = AUDITED[operation];
  const { auth, partner, auditIds: ids } = request;
  const workspaceId = auth?.workspace.id ?? ids?.workspace;
  // A sign-in that asks for the workspace begins no session.
  if (!audited || !workspaceId) return [];
  let actor: AuditActor;
  if (auth?.member) actor = { type: 'member', id: auth.member.id };
  else if (auth) actor = { type: 'key', id: auth.key.id };
  else if (partner) actor = { type: 'partner', id: partner.id };
  else if (ids?.member) actor = { type: 'member', id: ids.member };
  else return [];
  const sent = { ...fieldsOf(request.query), ...fieldsOf(request.body) };
  const details: Exclude<NewAuditEntry['details'], undefined> = {};
  for (const name of audited.record ?? []) {
    const value = sent[name];
    if (value !== undefined && value !== null) details[name] = value as string;
  }
  const own = { workspace: workspaceId, member: actor.id }[audited.target] ?? null;
  const named = fieldsOf(request.params).id;
  const id = typeof named === 'string' ? named : (ids?.object ?? own);
  return [{ workspaceId, actor, action: audited.action, target: { type: audited.target, id }, details }];
}

/** Returns an entry for each member whose email was tried. A lock is recorded once a minute, not at each attempt. */
async function failuresOf(
  { pool }: ApiDeps,
  request: FastifyRequest,
  { statusCode }: FastifyReply,
): Promise<NewAuditEntry[]> {
  const action = statusCode === 429 ? 'session.locked' : 'session.sign_in_failed';
  request.log.info({ action }, 'a sign-in was refused');
  const { email } = fieldsOf(request.body);
  if (typeof email !== 'string') return [];
  const holders = (await passwordHolders(pool, normalizeEmail(email), null)).slice(0, MAX_HOLDERS);
  const entries: NewAuditEntry[] = [];
  for (const { workspace_id: workspaceId, member_id: id } of holders) {
    if (statusCode === 429 && (await hasRecentAudit(pool, workspaceId, action, id))) continue;
    entries.push({
      workspaceId,
      actor: { type: 'service', id: null },
      action,
      target: { type: 'member', id },
    });
  }
  return entries;
}
