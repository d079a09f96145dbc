import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../core/errors.ts';
import { type KeptAnswer, keepAnswer, keptAnswer, lockIdempotencyKey } from '../../sql/idempotency.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/pool.ts';
import type { Api } from '../dependencies.ts';

const PRINTABLE = /^[\x20-\x7e]{1,200}$/;

/** Checks `Idempotency-Key` on the routes that create, and takes the request's fingerprint as it was sent. */
export function addIdempotency(app: Api): void {
  app.decorateRequest('idempotency', null);
  app.addHook('preValidation', async (request) => {
    const key = request.headers['idempotency-key'];
    if (!request.routeOptions.config.idempotent || key === undefined) return;
    if (typeof key !== 'string' || !PRINTABLE.test(key)) {
      throw badRequest('Idempotency-Key', 'must be 1 to 200 printable characters');
    }
    request.idempotency = { key, fingerprint: fingerprintOf(request) };
  });
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
  work: (tx: PoolClient) => Promise<KeptAnswer>,
): Promise<FastifyReply> {
  const { idempotency } = request;
  const workspaceId = request.auth.workspace.id;
  const { workspaceTurns } = request.server;
  const transaction = async (tx: PoolClient): Promise<KeptAnswer & { replayed: boolean }> => {
    if (!idempotency) return { ...(await work(tx)), replayed: false };
    const { key, fingerprint } = idempotency;
    if (!(await lockIdempotencyKey(tx, workspaceId, key))) {
      throw new AppError('idempotency_in_progress', 'the first request with this Idempotency-Key still runs');
    }
    const kept = await keptAnswer(tx, workspaceId, key);
    if (kept) {
      if (!kept.fingerprint.equals(fingerprint)) {
        throw new AppError(
          'idempotency_key_reused',
          'this Idempotency-Key came with another request in the last 24 hours',
        );
      }
      return { status: kept.status, body: kept.body, replayed: true };
    }
    const made = await work(tx);
    if (made.status >= 200 && made.status < 300)
      await keepAnswer(tx, { workspaceId, key, fingerprint, ...made });
    return { ...made, replayed: false };
  };
  const answer = await workspaceTurns(workspaceId, () => inTransaction(pool, transaction));
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
