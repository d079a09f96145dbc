import { createHash, randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../core/errors.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/database/pool.ts';
import {
  idempotencyKeyState,
  lockIdempotencyKey,
  releaseKey,
  reserveKey,
  type StoredResponse,
  storeResponse,
  waitForIdempotencyKey,
} from '../../sql/workspaces/idempotency.ts';
import type { Api } from '../dependencies.ts';

const PRINTABLE = /^[\x20-\x7e]{1,200}$/;

/** Checks `Idempotency-Key` on the routes that create, and takes the request's fingerprint as it was sent. */
export function addIdempotency(app: Api): void {
  app.decorateRequest('idempotency', null);
  app.addHook('preValidation', async (request) => {
    const key = request.headers['idempotency-key'];
    const { idempotent } = request.routeOptions.config;
    if (!idempotent || key === undefined) return;
    if (typeof key !== 'string' || !PRINTABLE.test(key)) {
      throw badRequest('Idempotency-Key', 'must be 1 to 200 printable characters');
    }
    if (idempotent === true) {
      request.idempotency = { key: keyOf(request, key), fingerprint: fingerprintOf(request) };
    }
  });
}

/**
 * What a key is kept as. Anyone has a publishable key: what is asked with it must not take the keys of the workspace's own
 * servers, which can be guessed (order numbers). The mark is none of the characters that a key may have.
 */
function keyOf({ auth }: FastifyRequest, key: string): string {
  return auth.key.kind === 'publishable' ? `\u0001${key}` : key;
}

/**
 * Answers a creating request, once per `Idempotency-Key`. `work` runs in a transaction; what it answers with 2xx is
 * kept in that same transaction, so a crash half-way leaves neither the work nor the record. A replay sends the kept
 * answer with `Idempotent-Replayed: true`.
 *
 * @param work makes the answer; throws an AppError to refuse, which undoes all it did
 * @throws {AppError} `idempotency_in_progress` while the first request runs, `idempotency_key_reused` when the key
 *   came with another method, path or body before
 */
export async function withIdempotency(
  pool: Pool,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: PoolClient) => Promise<StoredResponse>,
): Promise<FastifyReply> {
  return send(reply, await answerOnce(pool, request, null, work));
}

/**
 * {@link withIdempotency} for work that waits for something first. `prepare` does that without a connection; meanwhile
 * the key is reserved, so that a second request is told that the first runs. A replay does not prepare anything.
 *
 * A process that dies leaves the key reserved for some seconds. A request that takes longer than that may find that
 * another one has taken its key over; then that one's answer counts.
 */
export async function withPreparedIdempotency<T>(
  pool: Pool,
  request: FastifyRequest,
  reply: FastifyReply,
  prepare: () => Promise<T>,
  work: (tx: PoolClient, prepared: T) => Promise<StoredResponse>,
): Promise<FastifyReply> {
  const { idempotency, auth, server } = request;
  if (!idempotency) {
    const prepared = await prepare();
    return withIdempotency(pool, request, reply, (tx) => work(tx, prepared));
  }
  const workspaceId = auth.workspace.id;
  const reservation = { workspaceId, key: idempotency.key, holder: randomUUID() };
  const kept = await server.workspaceTurns(workspaceId, () =>
    inTransaction(pool, async (tx) => {
      const before = await answerBefore(tx, workspaceId, idempotency, null);
      if (!before) await reserveKey(tx, reservation);
      return before;
    }),
  );
  if (kept) return send(reply, { ...kept, replayed: true });
  try {
    const prepared = await prepare();
    return send(reply, await answerOnce(pool, request, reservation.holder, (tx) => work(tx, prepared)));
  } catch (error) {
    // What went wrong is for the caller to know; a reservation that stays ends by itself.
    await releaseKey(pool, reservation).catch(() => undefined);
    throw error;
  }
}

type Answer = StoredResponse & { replayed: boolean };
type RequestKey = NonNullable<FastifyRequest['idempotency']>;

async function answerOnce(
  pool: Pool,
  request: FastifyRequest,
  holder: string | null,
  work: (tx: PoolClient) => Promise<StoredResponse>,
): Promise<Answer> {
  const { idempotency } = request;
  const workspaceId = request.auth.workspace.id;
  const transaction = async (tx: PoolClient): Promise<Answer> => {
    if (!idempotency) return { ...(await work(tx)), replayed: false };
    const kept = await answerBefore(tx, workspaceId, idempotency, holder);
    if (kept) return { ...kept, replayed: true };
    const made = await work(tx);
    const { key, fingerprint } = idempotency;
    if (made.status >= 200 && made.status < 300)
      await storeResponse(tx, { workspaceId, key, fingerprint, ...made });
    if (holder !== null) await releaseKey(tx, { workspaceId, key, holder });
    return { ...made, replayed: false };
  };
  return request.server.workspaceTurns(workspaceId, () => inTransaction(pool, transaction));
}

/** The answer that a request with this key got before, or null: then the key's lock is held until the transaction ends. */
async function answerBefore(
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
        'this Idempotency-Key came with another request in the last 24 hours',
      );
    }
    return { status: kept.status, body: kept.body };
  }
  if (isReserved) throw inProgress();
  return null;
}

const inProgress = () =>
  new AppError('idempotency_in_progress', 'the first request with this Idempotency-Key still runs');

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer.replayed) reply.header('Idempotent-Replayed', 'true');
  return reply.status(answer.status).send(answer.body);
}

function fingerprintOf(request: FastifyRequest): Buffer {
  const path = request.url.split('?', 1)[0];
  return createHash('sha256')
    .update(`${request.method} ${path}\n${canonicalJson(request.body)}`)
    .digest();
}

/** JSON with the keys of every object in one order. Depth is bounded where bodies are read. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
