import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressHash } from '../../core/addresses/address-hash.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import {
  type AuditActor,
  hasRecentAudit,
  type NewAuditEntry,
  recordAudit,
} from '../../sql/audit/audit-log.ts';
import { passwordHolders } from '../../sql/console/members.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { AUDITED } from '../audit/actions.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { createChangeNotices } from '../mail/change-notices.ts';
import { createHashKey } from '../session/hash-key.ts';

/**
 * Maximum number of members of one email that get an entry of a failed sign-in: anyone may add an email to workspaces
 * of their own.
 */
const MAX_HOLDERS = 20;

type Fields = Record<string, unknown>;
const fieldsOf = (value: unknown): Fields =>
  value !== null && typeof value === 'object' ? (value as Fields) : {};

/** The parts of an entry that its request does not determine. */
export type AuditedChange = {
  /**
   * By default the `id` of the path, or the workspace or the calling member if that is the target. Null: the target's
   * id is not a UUID, and is in the details.
   */
  targetId?: string | null;
  /** Set on routes without a workspace's key or session, and for another workspace than the caller's. */
  workspaceId?: string;
  /** The member that signs in or accepts an invitation. */
  memberId?: string;
  details?: NewAuditEntry['details'];
};

/**
 * Appends the entry of the request's operation. @param tx the transaction of the change: both commit or neither does
 */
export type RecordChange = (tx: Queryable, change?: AuditedChange) => Promise<void>;

/**
 * Adds `request.audit`, with which each operation of `AUDITED` writes its entry in the transaction of its change, and
 * writes an entry for each failed sign-in. The log line of an entry follows its commit.
 */
export function addAudit(app: Api, deps: ApiDeps): void {
  const key = createHashKey(deps.pool);
  const tellOfChange = createChangeNotices(deps);
  const record = async (request: FastifyRequest, db: Queryable, entry: NewAuditEntry) => {
    const ipHash =
      entry.workspaceId === null ? null : addressHash(await key(), entry.workspaceId, request.ip);
    await recordAudit(db, { ...entry, ipHash });
    await tellOfChange(db, request, entry);
    request.auditEntries = [...(request.auditEntries ?? []), { ...entry, ipHash }];
  };
  app.decorateRequest('auditEntries', null);
  app.decorateRequest('audit', async function (this: FastifyRequest, tx: Queryable, change = {}) {
    await record(this, tx, entryOf(this, change));
  } satisfies (this: FastifyRequest, ...args: Parameters<RecordChange>) => Promise<void>);
  app.addHook('preHandler', async (request) => {
    // Read before the transaction: reading the key within it could wait for a connection that another such request
    // holds.
    if (operationOf(request) in AUDITED) await key();
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (isFailedSignIn(request, reply)) {
      try {
        for (const entry of await failuresOf(deps, request, reply)) await record(request, deps.pool, entry);
      } catch (error) {
        request.log.error({ err: error }, 'failed to record a failed sign-in; the request continues');
      }
    } else if (reply.statusCode >= 400) return payload;
    for (const { ipHash, ...entry } of request.auditEntries ?? []) {
      request.log.info({ audit: { ...entry, ipHash: ipHash?.toString('hex') } }, `audit: ${entry.action}`);
    }
    return payload;
  });
}

const operationOf = ({ routeOptions }: FastifyRequest): string =>
  String(fieldsOf(routeOptions.schema).operationId ?? '');

function entryOf(request: FastifyRequest, change: AuditedChange): NewAuditEntry {
  const operation = operationOf(request);
  const audited = AUDITED[operation];
  const workspaceId = change.workspaceId ?? request.auth?.workspace.id;
  if (!audited || !workspaceId) throw new Error(`${operation} is not audited, or names no workspace`);
  const actor = actorOf(request, operation, change);
  const sent = { ...fieldsOf(request.query), ...fieldsOf(request.body) };
  const details: Exclude<NewAuditEntry['details'], undefined> = {};
  for (const name of audited.record ?? []) {
    const value = sent[name];
    if (value !== undefined && value !== null) details[name] = value as string;
  }
  // Validation has dropped names that are not fields of the operation.
  if (audited.fields) details.fields = Object.keys(fieldsOf(request.body));
  const own = { workspace: workspaceId, member: actor.id }[audited.target] ?? null;
  const named = fieldsOf(request.params).id;
  const ofPath = typeof named === 'string' ? named : own;
  const id = change.targetId === undefined ? ofPath : change.targetId;
  return {
    workspaceId,
    actor,
    action: audited.action,
    target: { type: audited.target, id },
    details: { ...details, ...change.details },
  };
}

function actorOf(
  { auth, partner }: FastifyRequest,
  operation: string,
  { memberId }: AuditedChange,
): AuditActor {
  if (memberId !== undefined) return { type: 'member', id: memberId };
  if (auth?.member) return { type: 'member', id: auth.member.id };
  if (auth) return { type: 'key', id: auth.key.id };
  if (partner) return { type: 'partner', id: partner.id };
  throw new Error(`the entry of ${operation} has no actor`);
}

function isFailedSignIn(request: FastifyRequest, { statusCode }: FastifyReply): boolean {
  const operation = operationOf(request);
  return (
    (operation === 'session.signIn' || operation === 'session.signInWithPasskey') &&
    (statusCode === 401 || statusCode === 429)
  );
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
