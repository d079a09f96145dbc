import { createHash, randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../core/errors.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/database/pool.ts';
import {
  idempotencyKeyState,
  lockIdempotencyKey,
  type MadeResponse,
  releaseKey,
  reserveKey,
  type StoredResponse,
  storeResponse,
  waitForIdempotencyKey,
} from '../../sql/workspaces/idempotency.ts';
import type { Api } from '../dependencies.ts';

const PRINTABLE = /^[\x20-\x7e]{1,200}$/;

/** Validates `Idempotency-Key` on creating routes and takes the request's fingerprint as sent. */
export function addIdempotency(app: Api): void {
  app.decorateRequest('idempotency', null);
  app.addHook('preValidation', async (request) => {
    const key = request.headers['idempotency-key'];
    const { idempotent } = request.routeOptions.config;
    if (!idempotent || key === undefined) return;
    if (typeof key !== 'string' || !PRINTABLE.test(key)) {
      throw badRequest('Idempotency-Key', 'must be 1 to 200 printable characters');
    }
    request.idempotency = { key: keyOf(request, key), fingerprint: await fingerprintOf(request) };
  });
}

/**
 * Returns the key as stored. A publishable key is public, so its requests must not take the guessable keys (order
 * numbers) of the workspace's servers. The prefix can't be sent in a key.
 */
function keyOf({ auth, partner }: FastifyRequest, key: string): string {
  return partner === undefined && auth.key.kind === 'publishable' ? `\u0001${key}` : key;
}

/** Returns the owner of the request's idempotency keys: a workspace, or a partner with a key of its own. */
const callerOf = ({ auth, partner }: FastifyRequest): string => partner?.id ?? auth.workspace.id;

/**
 * Responds to a creating request once per `Idempotency-Key`. `work` runs in a transaction, and its 2xx response is
 * saved in the same transaction: a crash leaves neither. A replay sends the saved response with
 * `Idempotent-Replayed: true`.
 *
 * @param work makes the response; throws an AppError to refuse, which rolls back
 * @throws {AppError} `idempotency_in_progress` while the first request runs, `idempotency_key_reused` when the key
 *   came with another method, path or body
 */
export async function withIdempotency(
  pool: Pool,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: PoolClient) => Promise<MadeResponse>,
): Promise<FastifyReply> {
  return send(reply, await respondOnce(pool, request, null, work));
}

/**
 * {@link withIdempotency} for work that must wait first. `prepare` waits without a connection; meanwhile the key is
 * reserved, so a second request gets `idempotency_in_progress`. A replay does not call it.
 *
 * A process that dies leaves the key reserved for some seconds. If a request takes longer, another one may take its key
 * over; then that one's response counts.
 */
export async function withPreparedIdempotency<T>(
  pool: Pool,
  request: FastifyRequest,
  reply: FastifyReply,
  prepare: () => Promise<T>,
  work: (tx: PoolClient, prepared: T) => Promise<MadeResponse>,
): Promise<FastifyReply> {
  const { idempotency, server } = request;
  if (!idempotency) {
    const prepared = await prepare();
    return withIdempotency(pool, request, reply, (tx) => work(tx, prepared));
  }
  const workspaceId = callerOf(request);
  const reservation = { workspaceId, key: idempotency.key, holder: randomUUID() };
  const kept = await server.workspaceQueue(workspaceId, () =>
    inTransaction(pool, async (tx) => {
      const before = await savedResponse(tx, workspaceId, idempotency, null);
      if (!before) await reserveKey(tx, reservation);
      return before;
    }),
  );
  if (kept) return send(reply, { ...kept, replayed: true });
  try {
    const prepared = await prepare();
    return send(reply, await respondOnce(pool, request, reservation.holder, (tx) => work(tx, prepared)));
  } catch (error) {
    // The original error matters more; a reservation that remains expires.
    await releaseKey(pool, reservation).catch(() => undefined);
    throw error;
  }
}

type Response = StoredResponse & { replayed: boolean };
type RequestKey = NonNullable<FastifyRequest['idempotency']>;

async function respondOnce(
  pool: Pool,
  request: FastifyRequest,
  holder: string | null,
  work: (tx: PoolClient) => Promise<MadeResponse>,
): Promise<Response> {
  const { idempotency } = request;
  const workspaceId = callerOf(request);
  const transaction = async (tx: PoolClient): Promise<Response> => {
    if (!idempotency) {
      const { status, body } = await work(tx);
      return { status, body, replayed: false };
    }
    const kept = await savedResponse(tx, workspaceId, idempotency, holder);
    if (kept) return { ...kept, replayed: true };
    const { replayBody, ...made } = await work(tx);
    const { key, fingerprint } = idempotency;
    if (made.status >= 200 && made.status < 300) {
      const stored = { ...made, body: replayBody ?? made.body };
      if (request.partner === undefined) await request.server.countPublishable(tx, request.auth);
      await storeResponse(tx, { workspaceId, key, fingerprint, ...stored });
    }
    if (holder !== null) await releaseKey(tx, { workspaceId, key, holder });
    return { ...made, replayed: false };
  };
  return request.server.workspaceQueue(workspaceId, () => inTransaction(pool, transaction));
}

/**
 * Returns the saved response of this key, or null. Null: the key's lock is held until the transaction ends.
 */
async function savedResponse(
  tx: PoolClient,
  workspaceId: string,
  { key, fingerprint }: RequestKey,
  holder: string | null,
): Promise<StoredResponse | null> {
  if (holder !== null) await waitForIdempotencyKey(tx, workspaceId, key);
  else if (!(await lockIdempotencyKey(tx, workspaceId, key))) throw inProgress();
  const { stored: kept, isReserved } = await idempotencyKeyState(tx, workspaceId, key, holder);
  if (kept) {
    if (!kept.fingerprint.equals(fingerprint)) {
      throw new AppError(
        'idempotency_key_reused',
        'this Idempotency-Key was used with a different request in the last 24 hours',
      );
    }
    return { status: kept.status, body: kept.body };
  }
  if (isReserved) throw inProgress();
  return null;
}

const inProgress = () =>
  new AppError('idempotency_in_progress', 'the first request with this Idempotency-Key is still running');

function send(reply: FastifyReply, response: Response): FastifyReply {
  if (response.replayed) reply.header('Idempotent-Replayed', 'true');
  return reply.status(response.status).send(response.body);
}

/** Hashes the body in canonical form, the elements of its lists one by one in slices of time. */
async function fingerprintOf({ method, url, body, server }: FastifyRequest): Promise<Buffer> {
  const slice = server.beginSlices();
  const hash = createHash('sha256').update(`${method} ${url.split('?', 1)[0]}\n`);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return hash.update(canonicalJson(body)).digest();
  }
  for (const [name, value] of Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${JSON.stringify(name)}:`);
    if (!Array.isArray(value)) {
      hash.update(`${canonicalJson(value)},`);
      continue;
    }
    hash.update('[');
    for (const element of value) {
      await slice();
      hash.update(`${canonicalJson(element)},`);
    }
    hash.update(']');
  }
  return hash.digest();
}

/** Returns JSON with sorted object keys. Depth is bounded where bodies are parsed. */
function canonicalJson(value: unknown): string {
  if (value === undefined) return '';
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/**
 * Returns a response whose secret is missing in a replay, which says so: another member may send the replay.
 *
 * @param withoutSecret the body of a replay; left out: the body without `secret`
 */
export function secretOnce<T extends object>(status: number, body: T, withoutSecret?: object): MadeResponse {
  const { secret: _, ...rest } = body as { secret?: string };
  return { status, body, replayBody: { ...(withoutSecret ?? rest), secret_shown: false } };
}
