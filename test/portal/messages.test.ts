import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { MessageRecord } from '../../api/messages/schemas.ts';
import { setStatus } from '../../cli/commands/enrollment.ts';
import { merchant } from '../referrals/support.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { openProgram } from '../support/portal.ts';
import { type PortalBench, portalBench } from '../support/portal-bench.ts';

let bench: PortalBench;
let api: TestApi;
let shop: TestWorkspace;
beforeAll(async () => {
  bench = await portalBench();
  api = bench.api;
});
beforeEach(async () => {
  bench.server.behave('work');
  shop = await api.addWorkspace({ name: 'Corner Shop' });
});
afterAll(() => bench.close());

type Failed = { error?: { code: string; details?: { path: string; message: string; hint?: string }[] } };
type Sent = MessageRecord & Failed;
const send = (body: object) => shop.post<Sent>('/messages', { subject: 'News', text: 'Hello', ...body });
type Preview = Failed & { recipients: number; left_out: object; subject: string | null; text: string | null };
const preview = (body: object) =>
  shop.post<Preview>('/messages/preview', { subject: 'News', text: 'Hello', ...body });
const message = async (id: string) => (await shop.get<MessageRecord>(`/messages/${id}`)).body;
const unsubscribeUrl = (raw: string) =>
  new URL(/^List-Unsubscribe:\s*<(\S+?)>/im.exec(raw.replaceAll(/\r\n[ \t]+/g, ' '))?.[1] ?? '');
/** As a mail program calls it: https://www.rfc-editor.org/rfc/rfc8058 */
const endMails = (raw: string) => {
  const url = unsubscribeUrl(raw);
  return api.app.inject({
    method: 'POST',
    url: url.pathname + url.search,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'List-Unsubscribe=One-Click',
  });
};

let people = 0;
/** A referrer of a program. */
async function referrer(program_id: string, fields: object = {}) {
  people += 1;
  const user = `u${people}`;
  const email = `referrer-${people}@mail.example`;
  const { partner_id, referral_link } = await merchant(shop).enroll(user, { program_id, email, ...fields });
  return { user, email, partner_id, link: referral_link };
}

describe('a message', () => {
  test('reaches each of a group once, with what the fields say of each', async () => {
    const { id: programId, code } = await openProgram(shop, {}, { commission_rate: 20, hold_days: 30 });
    const group = await shop.post<{ id: string }>('/partner-groups', {
      program_id: programId,
      name: 'Newsletters',
      commission_rate: 32.5,
    });
    const ada = await referrer(programId, { name: 'Ada\u202e <b>' });
    const alan = await referrer(programId);
    const outside = await referrer(programId);
    for (const { partner_id } of [ada, alan])
      await shop.patch(`/enrollments/${partner_id}`, { group_id: group.body.id });
    await shop.patch(`/enrollments/${alan.partner_id}`, { commission_type: 'flat', commission_rate: 5 });
    const body = {
      group_id: group.body.id,
      subject: 'News of {program} for {name|you}',
      text: 'Hello {name|there},\n\n<script>alert(1)</script> & {rate} after {hold_days} days: {link}\n{portal}\nhttps://shop.example/sale',
    };
    const shown = await preview(body);
    expect(shown.body).toMatchObject({
      recipients: 2,
      left_out: { suspended: 0, no_email: 0, unsubscribed: 0 },
      subject: 'News of Friends for Ada <b>',
    });
    expect(shown.body.text).toContain(`32.5% after 30 days: ${ada.link}\nhttps://app.example/p/${code}`);
    const sent = await send(body);
    expect([sent.status, sent.body]).toMatchObject([201, { recipients: 2, subject: body.subject }]);
    const toAda = await bench.server.untilMailTo(ada.email, 'News of Friends for Ada <b>');
    const toAlan = await bench.server.untilMailTo(alan.email, 'News of Friends for you');
    expect(toAda.text).toContain(
      `Hello Ada <b>,\n\n<script>alert(1)</script> & 32.5% after 30 days: ${ada.link}`,
    );
    expect(toAlan.text).toContain(
      `Hello there,\n\n<script>alert(1)</script> & $5.00 after 30 days: ${alan.link}`,
    );
    expect(toAda.text).toContain('You get this mail from Corner Shop as an affiliate of Friends.');
    // What the owner typed is text.
    expect(toAda.html).toContain('&#60;script&#62;alert(1)&#60;/script&#62; &#38; 32.5%');
    expect(toAda.html).not.toMatch(/<script|<b>/);
    await expect.poll(async () => (await message(sent.body.id)).delivered).toBe(2);
    expect(bench.server.mails.filter(({ envelopeTo }) => envelopeTo.includes(outside.email))).toEqual([]);
    const mails = bench.server.mails.filter(({ subject }) => subject?.startsWith('News of Friends'));
    expect(mails.map(({ envelopeTo }) => envelopeTo)).toHaveLength(2);
    expect((await shop.get('/messages')).body).toMatchObject({
      messages: [{ id: sent.body.id, group_id: group.body.id, program_id: null, delivered: 2, failed: 0 }],
      next_cursor: null,
    });
  });

  test('is sent once, also when the call is repeated', async () => {
    const { id: program_id } = await openProgram(shop);
    const one = await referrer(program_id);
    const headers = { 'idempotency-key': 'message-1' };
    const call = () =>
      shop.call<Sent>('POST', '/messages', { body: { program_id, subject: 'Once', text: 'Hi' }, headers });
    const first = await call();
    expect((await call()).body.id).toBe(first.body.id);
    await bench.server.untilMailTo(one.email, 'Once');
    await expect.poll(async () => (await message(first.body.id)).delivered).toBe(1);
    expect((await shop.get<{ messages: object[] }>('/messages')).body.messages).toHaveLength(1);
  });

  test('ends with one press for the recipient, without a sign-in, and then leaves them out', async () => {
    const { id: program_id } = await openProgram(shop);
    const one = await referrer(program_id);
    const other = await referrer(program_id);
    const sent = await send({ program_id, subject: 'First' });
    const mail = await bench.server.untilMailTo(one.email, 'First');
    await bench.server.untilMailTo(other.email, 'First');
    expect(mail.raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    expect(mail.text).toContain('https://app.example/console/unsubscribe#');
    expect((await endMails(mail.raw)).statusCode).toBe(200);
    expect(await message(sent.body.id)).toMatchObject({ unsubscribed: 1 });
    const second = await send({ program_id, subject: 'Second' });
    expect(second.body).toMatchObject({ recipients: 1, left_out: { unsubscribed: 1 } });
    await bench.server.untilMailTo(other.email, 'Second');
    const none = await send({ partner_ids: [one.partner_id], subject: 'Third' });
    expect([none.status, none.body.error?.details?.[0]?.path]).toEqual([400, 'partner_ids']);
    // Of this workspace alone.
    const [corner, elsewhere] = [shop, await api.addWorkspace({ name: 'Elsewhere' })];
    shop = elsewhere;
    const { id: foreign } = await openProgram(shop);
    await referrer(foreign, { email: one.email });
    expect((await send({ program_id: foreign, subject: 'Elsewhere' })).body.recipients).toBe(1);
    await bench.server.untilMailTo(one.email, 'Elsewhere');
    shop = corner;
  });

  test('leaves out suspended referrers and those who turned mails off in the portal', async () => {
    const program = await openProgram(shop, { review: 'none' });
    const affiliate = await bench.people.affiliate(shop, program);
    const one = await referrer(program.id);
    const away = await referrer(program.id);
    await setStatus(api.stores.pool, {
      workspace: shop.workspace.id,
      externalUserId: away.user,
      status: 'suspended',
    });
    const browser = await bench.people.signedIn(affiliate);
    await browser.post('/portal/notices', { code: program.code, notices: 'off' });
    const sent = await send({ program_id: program.id, subject: 'For one' });
    expect(sent.body).toMatchObject({
      recipients: 1,
      left_out: { suspended: 1, no_email: 0, unsubscribed: 1 },
    });
    await bench.server.untilMailTo(one.email, 'For one');
  });

  test('that a server refuses is counted as failed, and one to an erased referrer is not sent', async () => {
    const { id: program_id } = await openProgram(shop);
    const one = await referrer(program_id);
    bench.server.behave('refuse_recipient');
    const sent = await send({ program_id, subject: 'Refused' });
    await expect.poll(async () => (await message(sent.body.id)).failed).toBe(1);
    bench.server.behave('defer');
    const later = await send({ program_id, subject: 'Deferred' });
    await shop.delete(`/enrollments/${one.partner_id}`);
    await expect.poll(async () => (await message(later.body.id)).canceled).toBe(1);
    bench.server.behave('work');
    const { rows } = await api.stores.pool.query('SELECT FROM mails WHERE recipient = $1', [one.email]);
    expect(rows).toEqual([]);
  });

  test('with a fault is refused at its field', async () => {
    const { id: program_id } = await openProgram(shop);
    const { partner_id } = await referrer(program_id);
    const unknown = '019aabf4-3c00-7000-8000-000000000001';
    const groupOf = await shop.post<{ id: string }>('/partner-groups', { program_id, name: 'Empty' });
    for (const [body, status, path] of [
      [{ program_id, text: 'Hello {nmae}' }, 400, 'text'],
      [{ program_id, subject: 'Hello {address}' }, 400, 'subject'],
      [{ program_id, subject: 'a\r\nBcc: x@y.example' }, 400, 'subject'],
      [{ program_id, subject: 'x'.repeat(151) }, 400, 'subject'],
      [{ program_id, subject: '' }, 400, 'subject'],
      [{ program_id, text: 'a\u0000' }, 400, 'text'],
      [{ program_id, text: '\ud800' }, 400, 'text'],
      [{ program_id, text: 'x'.repeat(10_001) }, 400, 'text'],
      [{}, 400, 'group_id'],
      [{ program_id, partner_ids: [partner_id] }, 400, 'group_id'],
      [{ partner_ids: [] }, 400, 'partner_ids'],
      [{ group_id: groupOf.body.id }, 400, 'group_id'],
      [{ group_id: unknown }, 404, undefined],
      [{ program_id: unknown }, 404, undefined],
      [{ partner_ids: [partner_id, unknown] }, 404, undefined],
    ] as const) {
      const response = await send(body);
      expect([body, response.status, response.body.error?.details?.[0]?.path]).toEqual([body, status, path]);
    }
    const slip = await send({ program_id, text: 'Hello {nmae}' });
    expect(slip.text).toContain('did you mean `{name}`?');
    expect((await shop.get<{ messages: object[] }>('/messages')).body.messages).toEqual([]);
  });

  test('is one of a bounded number a day', async () => {
    const { id: program_id } = await openProgram(shop);
    await referrer(program_id);
    const first = await send({ program_id, subject: 'First of many' });
    // As if it had gone to many more.
    await api.stores.pool.query(
      `INSERT INTO enrollments (id, workspace_id, program_id, external_user_id, tier, changed_by, created_at, updated_at)
       SELECT gen_random_uuid(), $1, $2, 'many-' || n, 'free', 'test', now(), now() FROM generate_series(1, 4999) AS n`,
      [shop.workspace.id, program_id],
    );
    await api.stores.pool.query(
      `INSERT INTO message_recipients (message_id, enrollment_id, mail_id)
       SELECT $1, id, gen_random_uuid() FROM enrollments WHERE workspace_id = $2 AND external_user_id LIKE 'many-%'`,
      [first.body.id, shop.workspace.id],
    );
    const { rows } = await api.stores.pool.query<{ id: string }>(
      `SELECT id FROM enrollments WHERE workspace_id = $1 AND email IS NOT NULL`,
      [shop.workspace.id],
    );
    const again = await send({ partner_ids: rows.map(({ id }) => id) });
    expect([again.status, Number(again.headers['retry-after']) > 80_000]).toEqual([429, true]);
    await api.stores.pool.query(
      `UPDATE messages SET created_at = created_at - interval '25 hours' WHERE id = $1`,
      [first.body.id],
    );
    expect((await send({ partner_ids: rows.map(({ id }) => id) })).status).toBe(201);
    const all = await send({ program_id });
    expect([all.status, all.body.error?.details?.[0]?.path]).toEqual([400, 'program_id']);
  });

  test('needs a mail server', async () => {
    const without = await testApi();
    const other = await without.addWorkspace();
    const { id: program_id } = await openProgram(other);
    const refused = await other.post<Failed>('/messages', { program_id, subject: 'S', text: 'T' });
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict']);
    await without.close();
  });
});
