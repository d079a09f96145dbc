import type { Api, ApiDeps } from '../dependencies.ts';
import { Me } from './schemas.ts';
import { describeCaller } from './service.ts';

/** `GET /me`: the first call to make with a key. */
export async function meRoutes(app: Api, deps: ApiDeps): Promise<void> {
  app.get(
    '/me',
    {
      config: { scope: 'any', plan: 'any' },
      schema: {
        tags: ['Identity'],
        operationId: 'getMe',
        summary: 'The workspace, its plan and the key of the call',
        description:
          'Usage counts since midnight UTC of the day of the month on which the workspace was created (the last ' +
          'day where a month lacks it). Reaching `events` drops no click. A plan that is not active or trialing ' +
          'has the limits of the free one.',
        response: { 200: Me },
      },
    },
    async ({ auth }) => describeCaller(deps, auth, new Date()),
  );
}
