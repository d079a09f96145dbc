import { Type } from 'typebox';
import { mayCall } from '../../core/access/key-scopes.ts';
import { AppError } from '../../core/errors.ts';
import type { KeyRecord } from '../../sql/workspaces/keys.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { createSite } from '../docs/site.ts';
import { requiredRole } from '../session/caller.ts';
import { callsOf } from './calls.ts';
import { confirmationsOf } from './confirmations.ts';
import { LINK_READ_TOOLS, LINK_WRITE_TOOLS } from './link-tools.ts';
import { listProblems } from './list-problems.ts';
import { REFERRAL_READ_TOOLS, REFERRAL_WRITE_TOOLS } from './referral-tools.ts';
import { REPORT_TOOLS } from './report-tools.ts';
import { searchDocs } from './search-docs.ts';
import type { Route, Tool } from './tool.ts';

const PREFIX = '/api/v1';

/**
 * Serves the API's tools for models at `POST /mcp` (Model Context Protocol, Streamable HTTP, without sessions). Each
 * tool calls the API with the key of its request. Call it before the routes are registered: it lists a tool for the
 * keys that may call the routes of the tool.
 */
export function addMcp(app: Api, deps: ApiDeps): void {
  const routes = new Map<string, { isRead: boolean }>();
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const one of [method].flat()) {
      routes.set(`${one} ${url}`, { isRead: requiredRole(config ?? {}, one) === 'analyst' });
    }
  });
  const tools: readonly Tool[] = [
    ...REPORT_TOOLS,
    ...LINK_READ_TOOLS,
    ...REFERRAL_READ_TOOLS,
    listProblems,
    searchDocs(createSite(deps.config)),
    ...LINK_WRITE_TOOLS,
    ...REFERRAL_WRITE_TOOLS,
  ];

  const mayUse = (key: KeyRecord, route: Route): boolean => {
    const [method = '', path = ''] = route.split(' ');
    const known = routes.get(`${method} ${PREFIX}${path}`);
    if (known === undefined) throw new Error(`a tool calls ${route}, which is no route`);
    return (
      key.scopes.includes('secret') || mayCall(key.scopes, { path: PREFIX + path, isRead: known.isRead })
    );
  };
  const toolsOf = (key: KeyRecord) =>
    tools.filter(({ needs, anyOf }) =>
      anyOf ? needs.some((route) => mayUse(key, route)) : needs.every((route) => mayUse(key, route)),
    );

  app.post(
    '/mcp',
    {
      config: { scope: 'any', plan: 'any', callsOthers: true },
      schema: { hide: true, body: Type.Unknown() },
    },
    async (request, reply) => {
      const { auth, headers } = request;
      if (auth.member || auth.key.kind !== 'secret') {
        throw new AppError('unauthorized', 'send a secret key as "Authorization: Bearer lk_live_..."');
      }
      // Loaded by the first call: most deployments have none.
      const { respond } = await import('./server.ts');
      const caller = {
        tools: toolsOf(auth.key),
        api: callsOf(app, request),
        confirmations: confirmationsOf(deps, auth),
      };
      const { accept = '', 'mcp-protocol-version': version } = headers;
      const given = new Headers({ accept, 'content-type': 'application/json' });
      if (typeof version === 'string') given.set('mcp-protocol-version', version);
      const asked = new Request(`${deps.config.baseUrl}/mcp`, { method: 'POST', headers: given });
      const response = await respond(caller, asked, request.body);
      const type = response.headers.get('content-type');
      if (type !== null) reply.header('content-type', type);
      reply.header('cache-control', 'no-store');
      return reply.status(response.status).send(await response.text());
    },
  );
}
