import { uuidToBytes } from '../../core/ids.ts';
import {
  checkOrder,
  type PersonRequest,
  readPerson,
  readSaleAmounts,
  type SaleRequest,
} from '../../core/tracking/track-reports.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { Ok } from '../schemas.ts';
import { IdentifyBody, OrderBody } from './schemas.ts';
import { writeEvent } from './service.ts';

const tags = ['Tracking'];

/** Registers `POST /track/identify` and `POST /track/order`: the pixel's reports, from a server. */
export async function trackRoutes(app: Api, { eventLog }: ApiDeps): Promise<void> {
  const config = { scope: 'secret', plan: 'paid' } as const;

  app.post(
    '/track/identify',
    {
      config: { ...config, checkRest: (body: PersonRequest, faulty) => void readPerson(body, faulty) },
      schema: {
        tags,
        operationId: 'track.identify',
        summary: 'Identify a visitor',
        description: 'Visitors with the same email are one person for attribution.',
        body: IdentifyBody,
        response: { 202: Ok },
      },
    },
    async ({ auth, body }, reply) => {
      const workspaceId = uuidToBytes(auth.workspace.id);
      await writeEvent(eventLog, { kind: 'identify', workspaceId, ...readPerson(body), source: 'server' });
      return reply.status(202).send({ ok: true });
    },
  );

  app.post(
    '/track/order',
    {
      config: {
        ...config,
        checkRest: (body: Partial<SaleRequest> & PersonRequest, faulty) => checkOrder(body, faulty),
      },
      schema: {
        tags,
        operationId: 'track.order',
        summary: 'Report an order',
        description:
          "Counted once per `order_id`: a report from a server replaces the pixel's report, and the earliest of several server reports counts. An order that names no visitor keeps the visitor that the pixel named, whichever report came first. If neither names one, the order belongs to the visitor who signed up as its `external_user_id`, else to the visitor last identified as that user.",
        body: OrderBody,
        response: { 202: Ok },
      },
    },
    async ({ auth, body }, reply) => {
      await writeEvent(eventLog, {
        kind: 'order',
        workspaceId: uuidToBytes(auth.workspace.id),
        orderId: body.order_id,
        ...readSaleAmounts(body),
        isRenewal: body.is_renewal ?? false,
        ...readPerson(body),
        source: 'server',
      });
      return reply.status(202).send({ ok: true });
    },
  );
}
