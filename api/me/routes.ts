import type { Api, ApiDeps } from '../dependencies.ts';
import { Me } from './schemas.ts';
import { describeCaller } from './service.ts';

/** Registers `GET /me`: the first call to make with a key. */
export async function meRoutes(app: Api, deps: ApiDeps): Promise<void> {
  app.get(
    '/me',
    {
      config: { scope: 'any', plan: 'any' },
      schema: {
        tags: ['Identity'],
        operationId: 'me.get',
        summary: 'Get the workspace, its plan and the current key',
        description:
          'Usage counts from midnight UTC on the day of the month on which the workspace was created, or the last day of a shorter month. Reaching the `events` limit drops no click. A plan that is not active or trialing has the limits of the free plan.',
        response: { 200: Me },
      },
    },
    async ({ auth }) => describeCaller(deps, auth, new Date()),
  );
}
