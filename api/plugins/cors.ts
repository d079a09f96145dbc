import cors from '@fastify/cors';
import type { Api } from '../dependencies.ts';

/**
 * Allows any origin, without credentials. Preflights get their response before authentication. Await it before other
 * hooks are added, so that their errors have the headers.
 */
export async function addCors(app: Api): Promise<void> {
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'Embed-Ancestors'],
    exposedHeaders: ['x-request-id', 'Idempotent-Replayed', 'Retry-After', 'x-ignored-fields'],
    maxAge: 86_400,
    strictPreflight: false,
  });
}
