import { type Static, Type } from 'typebox';
import type { Api, ApiDeps } from '../dependencies.ts';
import { OneOf } from '../schemas.ts';
import { createRedirectHealth, REDIRECT_STATES } from './redirect-health.ts';

const ServiceState = Type.Object(
  {
    redirects: OneOf(REDIRECT_STATES, {
      description:
        '`degraded`: redirects work, but their clicks are lost, as with a full disk. `unknown`: ingest does not respond to the API.',
    }),
    tracking: OneOf(['ready', 'degraded'], {
      description: '`degraded`: the API loses identifies and orders of `/track`.',
    }),
  },
  { title: 'ServiceState' },
);
export type ServiceState = Static<typeof ServiceState>;

/** Registers `GET /service`: what the console tells its members about the service. */
export async function serviceRoutes(app: Api, { config, eventLog }: ApiDeps): Promise<void> {
  const redirects = createRedirectHealth(config.shortUrl);
  app.get(
    '/service',
    {
      config: { scope: 'member', plan: 'any', role: 'analyst', console: true },
      schema: {
        tags: ['Service'],
        operationId: 'service.get',
        summary: 'Get whether the service loses clicks',
        response: { 200: ServiceState },
      },
    },
    async (): Promise<ServiceState> => ({
      redirects: await redirects(),
      tracking: eventLog.loss() ? 'degraded' : 'ready',
    }),
  );
}
