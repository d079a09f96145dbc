import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LinkRecord } from '../../api/links/schemas.ts';
import { MOST_LISTENERS } from '../../api/webhooks/listen-routes.ts';
import { uuidv7 } from '../../core/ids.ts';
import { EVENT_TYPES } from '../../core/webhooks/event-types.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { createListener, deleteGoneListeners } from '../../sql/webhooks/listeners.ts';
import { merchant } from '../../test/referrals/support.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { type CreatedLinks, campaign, createLink } from '../../test/support/links.ts';
import { isGenuine, type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';
import { click } from '../test-support/events.ts';

let bench: WebhookBench;
let receiver: Receiver;
let shop: TestWorkspace;
beforeAll(async () => {
  bench = await createWebhookBench();
  receiver = await startReceiver();
});
beforeEach(async () => {
  await bench.rest();
  bench.work();
  shop = await bench.api.addWorkspace();
  receiver.received.length = 0;
});
afterAll(async () => {
  await bench.close();
  await receiver.close();
});

/** Creates a link on `newsletter`. */
const link = async (fields: object = {}) =>
  (await createLink(shop, campaign({ channel: 'newsletter', ...fields }))).first;

async function folder(name: string): Promise<string> {
  return (await shop.post<{ id: string }>('/folders', { name })).body.id;
}

let lastTs = 0;
function visit(of: { id: string }, fields: object = {}): void {
  lastTs = Math.max(lastTs + 1, Date.now() * 1_000);
  const made = { workspace: shop.workspace.id, link: of.id, visitor: uuidv7(), ts: lastTs, ...fields };
  bench.stream.append([click(made)]);
}

/** The received events as `<query of the webhook> <type> <link>`. */
const arrived = () =>
  receiver.received
    .map(({ path, event }) => `${path.split('?')[1]} ${event.type} ${event.data.link_id ?? event.data.id}`)
    .toSorted();

describe('a filter', () => {
  it('passes the clicks of its links, folders, and channels, also after they have moved', async () => {
    const [spring, summer] = [await folder('Spring'), await folder('Summer')];
    const moving = await link({ folder_id: spring });
    const staying = await link({ folder_id: summer });
    const hook = (name: string, filter: object) =>
      bench.hook(shop, `${receiver.url}?${name}`, ['click.created'], { filter });
    await hook('link', { link_ids: [staying.id] });
    await hook('spring', { folder_ids: [spring] });
    await hook('summer', { folder_ids: [summer] });
    await hook('both', { link_ids: [moving.id], folder_ids: [spring] });
    await hook('program', { program_ids: [(await merchant(shop).program()).id] });

    // The workers read both clicks after the link has moved.
    await bench.rest();
    visit(moving);
    await shop.patch(`/links/${moving.id}`, { folder_id: summer });
    visit(moving);
    visit(staying);
    await shop.delete(`/links/${staying.id}`);
    bench.work();
    await receiver.until(5);
    await bench.settled();
    expect(arrived()).toEqual(
      [
        `both click.created ${moving.id}`,
        `link click.created ${staying.id}`,
        `spring click.created ${moving.id}`,
        `summer click.created ${moving.id}`,
        `summer click.created ${staying.id}`,
      ].toSorted(),
    );
  });

  it('that is added while the workers lag passes the clicks of its folder at the click', async () => {
    const [spring, summer] = [await folder('Spring'), await folder('Summer')];
    const moving = await link({ folder_id: spring });
    const hook = await bench.hook(shop, receiver.url, ['click.created']);
    await bench.rest();
    visit(moving);
    // No webhook has a filter yet.
    await shop.patch(`/links/${moving.id}`, { folder_id: summer });
    visit(moving);
    visit(await link({ folder_id: summer }));
    expect((await shop.patch(`/webhooks/${hook.id}`, { filter: { folder_ids: [spring] } })).status).toBe(200);
    bench.work();
    await receiver.until(1);
    await bench.settled();
    expect(receiver.received.map(({ event }) => event.data.link_id)).toEqual([moving.id]);
  });

  it('passes events of its programs, and none that names no program', async () => {
    const { program, enroll } = merchant(shop);
    const [first, second] = [await program(), await program()];
    const filter = { program_ids: [first.id] };
    await bench.hook(shop, `${receiver.url}?one`, ['enrollment.created', 'domain.failing'], { filter });
    await enroll('ann', { program_id: first.id });
    await enroll('bob', { program_id: second.id });
    await bench.settled();
    expect(receiver.received.map(({ event }) => event.data.external_user_id)).toEqual(['ann']);
  });
});

describe('events of links', () => {
  const LINKS = ['link.created', 'link.updated', 'link.deleted'];

  it('carry the link as GET /links/:id shows it, once for each change', async () => {
    const spring = await folder('Spring');
    await bench.hook(shop, receiver.url, LINKS);
    const made = await link();
    const shown = async (id: string) => (await shop.get<LinkRecord>(`/links/${id}`)).body;
    const created = await shown(made.id);
    // A change of the link and of its campaign.
    const change = {
      slug: 'new-name',
      folder_id: spring,
      expires_at: '2030-01-01T00:00:00Z',
      password: 'secret',
    };
    await shop.patch(`/links/${made.id}`, change);
    const updated = await shown(made.id);
    // Changes nothing.
    await shop.patch(`/links/${made.id}`, { slug: 'new-name' });
    const before = await shown(made.id);
    expect((await shop.delete(`/links/${made.id}`)).status).toBe(200);
    await receiver.until(3);
    await bench.settled();
    expect(receiver.received.map(({ event }) => [event.type, event.data])).toEqual([
      ['link.created', created],
      ['link.updated', { ...updated, previous: created }],
      ['link.deleted', before],
    ]);
    expect(JSON.stringify(receiver.received)).not.toContain('$argon');
  });

  it('come from every way to change a link, and reach the folder that it leaves', async () => {
    const [spring, summer] = [await folder('Spring'), await folder('Summer')];
    const first = await link({ folder_id: spring });
    const ofCampaign = { destination_id: first.destination_id, channel: 'reddit' };
    const { first: second } = await createLink(shop, ofCampaign);
    await bench.hook(shop, `${receiver.url}?spring`, LINKS, { filter: { folder_ids: [spring] } });
    await bench.hook(shop, `${receiver.url}?reddit`, LINKS, { filter: { channels: ['reddit'] } });
    await shop.patch(`/links/${first.id}`, { folder_id: summer }); // moves both links of the campaign
    await bench.settled();
    const changes = [`spring link.updated ${first.id}`, `spring link.updated ${second.id}`];
    expect(arrived()).toEqual([...changes, `reddit link.updated ${second.id}`].toSorted());
    receiver.received.length = 0;

    const { body } = await shop.post<{ results: { body: CreatedLinks }[] }>('/links/bulk', {
      links: [1, 2].map(() => campaign({ folder_id: spring })),
    });
    const bulk = body.results.flatMap((row) => row.body.links);
    await shop.call('DELETE', '/links/bulk', { body: { ids: bulk.map(({ id }) => id) } });
    // The folder itself: its links stay, without a folder.
    const third = await link({ folder_id: spring });
    await shop.delete(`/folders/${spring}`);
    await bench.settled();
    expect(arrived()).toEqual(
      [
        ...bulk.flatMap(({ id }) => [`spring link.created ${id}`, `spring link.deleted ${id}`]),
        `spring link.created ${third.id}`,
        `spring link.updated ${third.id}`,
      ].toSorted(),
    );
  });
});

describe('a format', () => {
  it('makes a message of an event, signed as it is sent, in which text of users is only text', async () => {
    const formats = ['slack', 'discord'] as const;
    const [slack, discord] = await Promise.all(
      formats.map((format) => bench.hook(shop, `${receiver.url}?${format}`, ['link.created'], { format })),
    );
    const name = '@everyone <!channel> <https://bad.example|free> `*x* [a](https://b.example) & more';
    await link({ name });
    await receiver.until(2);
    const of = (format: string) => {
      const found = receiver.received.find(({ path }) => path.endsWith(format));
      if (!found) throw new Error(`no delivery as ${format}`);
      return found;
    };
    expect(isGenuine(slack?.secret ?? '', of('slack'))).toBe(true);
    expect(isGenuine(discord?.secret ?? '', of('discord'))).toBe(true);
    const inSlack = JSON.parse(of('slack').body);
    expect(inSlack).toMatchObject({ text: 'New link', unfurl_links: false, unfurl_media: false });
    expect(inSlack.blocks[0].fields).toContainEqual({
      type: 'mrkdwn',
      verbatim: true,
      text: "*Name*\n`@everyone &lt;!channel&gt; &lt;https://bad.example|free&gt; '*x* [a](https://b.example) &amp; more`",
    });
    const inDiscord = JSON.parse(of('discord').body);
    expect(inDiscord.allowed_mentions).toEqual({ parse: [] });
    expect(inDiscord.embeds[0].fields).toContainEqual({
      name: 'Name',
      value: "`@everyone <!channel> <https://bad.example|free> '*x* [a](https://b.example) & more`",
      inline: true,
    });
    // The log shows what is sent.
    if (!slack) throw new Error('no webhook');
    const delivery = await bench.untilDelivery(shop, slack, ({ status }) => status === 'delivered');
    const { body } = await shop.get<{ request: { body: string } }>(
      `/webhooks/${slack.id}/deliveries/${delivery.id}`,
    );
    expect(body.request.body).toBe(of('slack').body);
  });
});

describe('the format get', () => {
  type Refused = { error: { details: { path: string; message: string }[] } };
  const create = (fields: object) =>
    shop.post<Refused>('/webhooks', {
      url: receiver.url,
      events: ['sale.created'],
      format: 'get',
      ...fields,
    });
  const template = () => `${receiver.url}/{order_id}?p={amount}&cid={visitor_id}&t={test}`;

  it('calls the address with fields of the event, unsigned, and stores no value of it in the log', async () => {
    const url = `${receiver.url}/{name}?p={max_clicks}&cid={folder_id}&t={test}`;
    const hook = await bench.hook(shop, url, ['link.created'], { format: 'get' });
    await link({ name: 'a/ü&b', max_clicks: 12 });
    await receiver.until(1);
    const delivery = await bench.untilDelivery(shop, hook, ({ status }) => status === 'delivered');
    const [got] = receiver.received;
    const path = '/hook/a%2F%C3%BC%26b?p=12&cid=&t=';
    expect(got).toMatchObject({ method: 'GET', path, body: '', id: delivery.event_id });
    for (const name of ['webhook-signature', 'content-type', 'content-length'])
      expect(got?.headers).not.toHaveProperty(name);
    const { body } = await shop.get<{ request: object }>(`/webhooks/${hook.id}/deliveries/${delivery.id}`);
    expect(body.request).toMatchObject({ url: new URL(path, receiver.url).href, body: '' });
    const { rows } = await bench.api.stores.pool.query<{ url: string }>(
      `SELECT request ->> 'url' AS url FROM webhook_deliveries WHERE id = $1`,
      [delivery.id],
    );
    expect(rows[0]?.url).toBe(url);
  });

  it('says of an example that it is one', async () => {
    await bench.hook(shop, template(), ['sale.created'], { format: 'get' });
    const data = { order_id: '..', visitor_id: null, amount: 1 };
    await shop.post('/webhooks/trigger', { type: 'sale.created', data });
    await receiver.until(1);
    expect(receiver.received[0]?.path).toBe('/hook/?p=1&cid=&t=true');
  });

  it('refuses placeholders that no event fills or that name the host, and batches', async () => {
    const refused: [object, string, RegExp][] = [
      [{ url: `${receiver.url}?a={ammount}` }, 'url', /\{ammount\} is none, \{amount\} is one/],
      [{ url: `${receiver.url}?a={link_id}` }, 'url', /has only \{test\}, \{order_id\}/],
      [{ url: 'https://{order_id}.example/' }, 'url', /no placeholder in its host/],
      [{ events: ['click.created'], batch: { max: 2, seconds: 1 } }, 'batch', /must be null/],
    ];
    for (const [fields, path, message] of refused) {
      const { status, body } = await create(fields);
      const [detail] = body.error?.details ?? [];
      expect([status, detail?.path, message.test(detail?.message ?? '')]).toEqual([400, path, true]);
    }
    const { id } = await bench.hook(shop, template(), ['sale.created'], { format: 'get' });
    const change = (fields: object) => shop.patch<Refused>(`/webhooks/${id}`, fields);
    expect((await change({ events: ['domain.failing'] })).body.error.details[0]?.path).toBe('url');
    expect((await change({ format: 'json' })).status).toBe(200);
    expect((await change({ events: ['domain.failing'] })).status).toBe(200);
    expect((await change({ format: 'get' })).status).toBe(400);
  });
});

describe('an example of an event', () => {
  it('reaches every webhook of its type, whatever the filter, and says that it is one', async () => {
    const filter = { channels: ['reddit'] };
    await bench.hook(shop, `${receiver.url}?chosen`, ['link.created'], { filter });
    await bench.hook(shop, `${receiver.url}?slack`, ['link.created'], { format: 'slack' });
    await bench.hook(shop, `${receiver.url}?other`, ['sale.created']);
    type Triggered = { id: string; data: Record<string, unknown> };
    const body = { type: 'link.created', data: { name: 'From a test' } };
    const triggered = await shop.post<Triggered>('/webhooks/trigger', body);
    expect(triggered).toMatchObject({ status: 201, body: { test: true, data: body.data } });
    await receiver.until(2);
    await bench.settled();
    expect(receiver.received).toHaveLength(2);
    const of = (query: string) => receiver.received.find(({ path }) => path.endsWith(query));
    expect(of('chosen')?.event).toEqual(triggered.body);
    expect(of('slack')?.body).toContain('"text":"Test: New link"');
    const wrong = await shop.post<{ error: { details: object[] } }>('/webhooks/trigger', { type: 'x' });
    expect(wrong).toMatchObject({ status: 400, body: { error: { details: [{ path: 'type' }] } } });
  });

  it('has identifiers that events have, so that it stops no other delivery', async () => {
    await bench.hook(shop, `${receiver.url}?sales`, ['sale.created']);
    const given: [name: string, value: unknown][] = [
      ...['v1', '', 7, {}].map((value) => ['visitor_id', value] as [string, unknown]),
      ['link_id', 'x'],
      ['order_id', 'x'.repeat(256)],
      ['external_user_id', 5],
    ];
    for (const [name, value] of given) {
      const answer = await shop.post('/webhooks/trigger', { type: 'sale.created', data: { [name]: value } });
      expect([name, value, answer.status, answer.body.error?.details?.[0]?.path]).toEqual([
        name,
        value,
        400,
        `data.${name}`,
      ]);
    }
    const data = {
      visitor_id: uuidv7().toUpperCase(),
      order_id: '\u0000é'.repeat(60),
      external_user_id: null,
    };
    const sent = await shop.post('/webhooks/trigger', { type: 'sale.created', data });
    expect([201, 400], sent.text).toContain(sent.status);
    expect((await shop.post('/webhooks/trigger', { type: 'sale.created' })).status).toBe(201);
    await receiver.until(1);
  });
});

describe('a listener', () => {
  type Refused = { error: { details: object[] } };
  const listen = (query = '') => shop.get<Refused>(`/webhooks/listen${query}`);

  it('names what is wrong, and is one of five', async () => {
    const message = `must be types of events, separated by commas: ${EVENT_TYPES.join(', ')}`;
    for (const events of ['nope', 'click.created,clicks', 'click.created,']) {
      const { status, body } = await listen(`?events=${events}`);
      expect([events, status, body.error.details]).toEqual([events, 400, [{ path: 'events', message }]]);
    }
    expect((await listen('?events=')).body).toMatchObject({ error: { details: [{ path: 'events' }] } });
    expect((await listen('?after=1')).body).toMatchObject({ error: { details: [{ path: 'after' }] } });
    expect((await listen(`?after=${uuidv7()}.1`)).status).toBe(404);
    const { pool } = bench.api.stores;
    const given = { events: ['sale.created'], secret: Buffer.alloc(32), most: MOST_LISTENERS };
    const create = () => inTransaction(pool, (tx) => createListener(tx, shop.workspace.id, given));
    const made = await Promise.all(Array.from({ length: MOST_LISTENERS }, create));
    expect(made.every((one) => one !== null)).toBe(true);
    expect((await listen()).status).toBe(409);
    expect((await listen(`?events=${EVENT_TYPES.join(', ')}`)).status).toBe(409);
    // Another workspace cannot resume it.
    const stranger = await bench.api.addWorkspace();
    expect((await stranger.get(`/webhooks/listen?after=${made[0]?.id}.0`)).status).toBe(404);
  });

  it('that has left for five minutes is gone, with its events', async () => {
    const { pool } = bench.api.stores;
    const given = { events: ['credit.earned'], secret: Buffer.alloc(32), most: MOST_LISTENERS };
    const made = await inTransaction(pool, (tx) => createListener(tx, shop.workspace.id, given));
    await bench.credit(shop);
    const events = async () =>
      (await pool.query('SELECT FROM webhook_listener_events WHERE listener_id = $1', [made?.id])).rowCount;
    await expect.poll(events).toBe(1);
    await inTransaction(pool, deleteGoneListeners);
    expect(await events()).toBe(1);
    // Its connection may be cut without a sign: events wait longer than the kernel takes to notice.
    const older = (age: string) =>
      pool.query(`UPDATE webhook_listener_events SET made_at = now() - $2::interval WHERE listener_id = $1`, [
        made?.id,
        age,
      ]);
    await older('20 minutes');
    await inTransaction(pool, deleteGoneListeners);
    expect(await events()).toBe(1);
    await pool.query(`UPDATE webhook_listeners SET seen_at = now() - interval '6 minutes' WHERE id = $1`, [
      made?.id,
    ]);
    await inTransaction(pool, deleteGoneListeners);
    expect(await events()).toBe(0);
    expect((await listen(`?after=${made?.id}.0`)).status).toBe(404);
  });
});
