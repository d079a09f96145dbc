import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import type { RawDocument } from '../../api/openapi/document.ts';
import { collectRoutes, type RouteToDocument } from '../../api/openapi/reference.ts';
import type { Document } from '../../api/openapi/test-support.ts';
import { createDocumentCheck, type DocumentCheck } from './document-check.ts';

/**
 * Compares each response of each API of this process with the OpenAPI documents: status, error code, content type, and
 * the schema of a JSON body.
 */

/** Created from the routes of the first API of the process: all have the same. */
let check: Promise<DocumentCheck> | null = null;
const differences = new Set<string>();

/** Paths that also match another operation: the last segment may be the slug of a bio page. */
const ALSO = new Map([['/api/v1/bio-pages/availability', '/api/v1/bio-pages/{id}']]);

/** Returns how responses since the last call differ from the documents. */
export function takeDifferences(): string[] {
  const taken = [...differences];
  differences.clear();
  return taken;
}

subscribe('fastify.initialization', (message) => {
  const { fastify: app } = message as { fastify: FastifyInstance };
  const routes = collectRoutes(app);
  let differs: DocumentCheck | null = null;
  app.addHook('onReady', async () => {
    // Skips tests' other servers, and the one that creates the documents.
    if (!app.hasRoute({ method: 'GET', url: '/api/v1/openapi.json' })) return;
    check ??= checkOf(routes);
    differs = await check;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const url = request.routeOptions.url;
    // Skips a 405, which belongs to the path without the method, even if the route of `/links/{id}` responds for
    // `/links/bulk`.
    if (!differs || url === undefined || reply.statusCode === 405) return;
    const path = url.replaceAll(/:(\w+)/g, '{$1}');
    const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
    const type = String(reply.getHeader('content-type') ?? '');
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
    const sent = { status: reply.statusCode, type, text: isText ? String(payload) : null };
    const found = [path, ALSO.get(path) ?? path].map((one) => differs?.(one, method, sent));
    if (!found.includes(null)) differences.add(`${request.method} ${path}: ${found[0]}`);
  });
});

/**
 * Creates the check from the documents of keys and of the console. A path without schemas is in neither, and is not
 * compared.
 */
async function checkOf(routes: readonly RouteToDocument[]): Promise<DocumentCheck> {
  const { documentOf } = await import('../../api/openapi/document.ts');
  const { createReference } = await import('../../api/openapi/reference.ts');
  const { CONSOLE, PUBLIC } = await import('../../api/openapi/text.ts');
  const { raw, routes: byId } = await createReference(routes, { baseUrl: 'https://hop.example' });
  const checks = [PUBLIC, CONSOLE].map((part) => {
    const document = documentOf(raw as RawDocument, byId, part) as unknown as Document;
    return { paths: document.paths, differs: createDocumentCheck(document) };
  });
  return (path, method, sent) =>
    checks.find(({ paths }) => paths[path]?.[method])?.differs(path, method, sent) ?? null;
}
