import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { deliveryId } from '../../core/webhooks/delivery.ts';
import { insertDelivery } from '../../sql/webhooks/deliveries.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { changeBioPage, makeBioPage, trackedLinks } from '../../test/support/bio.ts';

type Hook = { id: string };
type Delivery = {
  id: string;
  event_id: string;
  type: string;
  status: string;
  attempts: number;
  created_at: string;
};
type Page = { deliveries: Delivery[]; next_cursor: string | null };

let api: TestApi;
let shop: TestWorkspace;
beforeAll(async () => {
  api = await testApi(() => ({ resolveHost: async () => [{ address: '8.8.8.8', family: 4 }] }));
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

let created = 0;
async function create(): Promise<Hook> {
  const body = { url: `https://public.example/hook?${++created}`, events: ['click.created', 'sale.created'] };
  const answer = await shop.post<Hook>('/webhooks', body);
  expect(answer.status).toBe(201);
  return answer.body;
}

/** A delivery as the workers queue it. */
function addDelivery({ id }: Hook, type: string, data: object = {}): Promise<Delivery> {
  const eventId = uuidv7();
  return insertDelivery(api.stores.pool, {
    id: deliveryId(id, eventId),
    workspaceId: shop.workspace.id,
    webhookId: id,
    eventId,
    type,
    body: JSON.stringify({ data }),
  });
}

test('deliveries of a test are listed newest first, and can be filtered by status', async () => {
  const hook = await create();
  const made: Delivery[] = [];
  for (let test = 0; test < 5; test++) {
    const answer = await shop.post<Delivery>(`/webhooks/${hook.id}/test`);
    expect(answer.status).toBe(201);
    made.push(answer.body);
  }
  expect(made[0]).toMatchObject({ type: 'webhook.test', status: 'pending', attempts: 0 });
  const path = `/webhooks/${hook.id}/deliveries`;
  const all = await shop.get<Page>(path);
  expect(all.body.deliveries.map((one) => one.id)).toEqual(made.map((one) => one.id).toReversed());
  expect(all.body.next_cursor).toBeNull();
  const first = await shop.get<Page>(`${path}?limit=2`);
  const second = await shop.get<Page>(`${path}?limit=3&cursor=${first.body.next_cursor}`);
  expect([...first.body.deliveries, ...second.body.deliveries]).toEqual(all.body.deliveries);
  expect((await shop.get<Page>(`${path}?status=failed`)).body.deliveries).toEqual([]);
  expect((await shop.get(`${path}?status=lost`)).status).toBe(400);
  expect((await shop.get(`${path}?limit=501`)).status).toBe(400);
  expect((await shop.get(`${path}?cursor=yesterday`)).status).toBe(400);
});

test('deliveries can be filtered by type, together with a status and in pages', async () => {
  const hook = await create();
  const made: Delivery[] = [];
  for (const type of ['click.created', 'sale.created', 'click.created', 'sale.created', 'click.created']) {
    made.push(await addDelivery(hook, type));
  }
  const ids = (type: string) => made.filter((one) => one.type === type).map((one) => one.id);
  const path = `/webhooks/${hook.id}/deliveries`;
  const found = async (query: string) =>
    (await shop.get<Page>(`${path}?${query}`)).body.deliveries.map((one) => one.id);
  expect(await found('type=sale.created')).toEqual(ids('sale.created').toReversed());
  expect(await found('type=click.created')).toEqual(ids('click.created').toReversed());
  expect(await found('type=sale.created&status=pending')).toEqual(ids('sale.created').toReversed());
  expect(await found('type=sale.created&status=failed')).toEqual([]);
  expect(await found('type=webhook.test')).toEqual([]);
  const first = await shop.get<Page>(`${path}?type=click.created&limit=2`);
  const rest = await found(`type=click.created&cursor=${first.body.next_cursor}`);
  expect([...first.body.deliveries.map((one) => one.id), ...rest]).toEqual(ids('click.created').toReversed());
  expect((await shop.get(`${path}?type=click.deleted`)).status).toBe(400);
});

test('deliveries are repeated only for an active webhook and a delivery of its own', async () => {
  const [hook, other] = [await create(), await create()];
  const { body: delivery } = await shop.post<Delivery>(`/webhooks/${hook.id}/test`);
  const again = (id: string) => shop.post<Delivery>(`/webhooks/${id}/deliveries/${delivery.id}/redeliver`);
  expect(await again(hook.id)).toMatchObject({
    status: 200,
    body: { id: delivery.id, event_id: delivery.event_id },
  });
  expect((await again(other.id)).status).toBe(404);
  expect((await shop.get(`/webhooks/${other.id}/deliveries/${delivery.id}`)).status).toBe(404);
  await shop.patch(`/webhooks/${hook.id}`, { is_active: false });
  expect((await again(hook.id)).status).toBe(409);
  expect((await shop.post(`/webhooks/${hook.id}/test`)).status).toBe(409);
});

test('of a removed bio button the clicks leave the log at once, and can’t be delivered again', async () => {
  const hook = await create();
  const { shop: removed, blog: kept } = trackedLinks(await makeBioPage(shop, 'logged'));
  const stays = await addDelivery(hook, 'click.created', { link_id: kept });
  const goes = await addDelivery(hook, 'click.created', { link_id: removed });
  const path = `/webhooks/${hook.id}`;
  const shown = async () => {
    const { body } = await shop.get<{ last_delivery: Delivery }>(path);
    const { deliveries } = (await shop.get<Page>(`${path}/deliveries`)).body;
    return [body.last_delivery.id, ...deliveries.map((one) => one.id)];
  };
  expect(await shown()).toEqual([goes.id, goes.id, stays.id]);
  await changeBioPage(shop, 'logged', { links: [{ id: 'blog', url: 'https://blog.example' }] });
  expect(await shown()).toEqual([stays.id, stays.id]);
  const statuses = async ({ id }: Delivery) => [
    (await shop.get(`${path}/deliveries/${id}`)).status,
    (await shop.post(`${path}/deliveries/${id}/redeliver`)).status,
  ];
  expect([await statuses(goes), await statuses(stays)]).toEqual([
    [404, 404],
    [200, 200],
  ]);
});
