import cors from '@fastify/cors';
import type { Api } from '../dependencies.ts';

/**
 * Any origin, without credentials. Preflights are answered before keys are asked for. Awaited before the other
 * hooks are added, so that errors of theirs carry the headers too.
 */
export async function addCors(app: Api): Promise<void> {
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key'],
    exposedHeaders: ['x-request-id', 'Idempotent-Replayed', 'Retry-After', 'x-ignored-fields'],
    maxAge: 86_400,
    strictPreflight: false,
  });
}
