import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { setStatus } from '../../cli/commands/enrollment.ts';
import type { ExportedPayout } from '../../cli/commands/payout.ts';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { operator } from '../support/hoplog.ts';
import { temporaryDataDir } from '../support/journal.ts';
import { merchantTest } from './fixtures.ts';
import { countRows, type Merchant, PAID_AT_ONCE } from './support.ts';

const referral = (m: Merchant, program: object = {}) => m.referral({ ...PAID_AT_ONCE, ...program });

describe('a payout file', () => {
  merchantTest(
    'lists eligible balances of at least min_payout, by method, with its id in the header',
    async ({ shop, m }) => {
      const { programId, partner_id } = await referral(m, { min_payout: 20 });
      await m.mode('r', 'affiliate');
      await shop.post('/referrals/payout-method', {
        external_user_id: 'r',
        method: 'wise',
        email: 'pay@mail.example',
      });
      for (const user of ['under', 'at', 'pal']) {
        const { ref, partner_id: id } = await m.enroll(user, {
          name: user === 'at' ? '=HYPERLINK("x"), "y"' : null,
        });
        await m.address(id, user);
        await m.signup(`n-${user}`, { ref_code: ref });
      }
      await m.mode('pal', 'affiliate');
      await shop.post('/referrals/payout-method', {
        external_user_id: 'pal',
        method: 'paypal',
        paypal_email: 'pal@mail.example',
      });
      await m.purchase('n', 'o1', 150);
      await m.purchase('n-under', 'o2', 99.95);
      await m.purchase('n-at', 'o3', 100);
      await m.purchase('n-pal', 'o4', 400);
      const { id, type, lines, text } = await m.exportPayouts(`?program_id=${programId}`);
      expect(type).toBe('text/csv; charset=utf-8');
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(
        lines.map(({ external_user_id, method, payout_email, amount, currency }) => [
          external_user_id,
          method,
          payout_email,
          amount,
          currency,
        ]),
      ).toEqual([
        ['at', 'paypal', 'at@pay.example', '20.00', 'usd'],
        ['pal', 'paypal', 'pal@mail.example', '80.00', 'usd'],
        ['r', 'wise', 'pay@mail.example', '30.00', 'usd'],
      ]);
      expect(lines[2]).toMatchObject({ partner_id, program_id: programId, email: 'r@mail.example' });
      // A spreadsheet must not evaluate a user's name as a formula.
      expect(text).toContain(`"'=HYPERLINK(""x""), ""y"""`);
    },
  );

  merchantTest('is marked paid exactly as it was created, once', async ({ m }) => {
    const { programId } = await referral(m);
    await m.purchase('n', 'o1', 100);
    const file = await m.exportPayouts(`?program_id=${programId}`);
    await m.purchase('n', 'o2', 50); // after the file
    await m.refund('f1', 'o1', 10); // may have been paid already: subtracted from the next file
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 28, paid: 0 });
    const first = await m.pay(file.id);
    expect([first.status, first.body]).toEqual([200, { paid: 1, totals: { usd: 20 } }]);
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 8, paid: 20 });
    expect((await m.pay(file.id)).body).toEqual(first.body);
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 8, paid: 20 });
    expect((await m.stats('r')).affiliate.payouts).toEqual([
      { date: expect.any(String), amount: 20, status: 'paid' },
    ]);
    expect((await m.exportPayouts()).lines).toMatchObject([{ amount: '8.00' }]);
  });

  merchantTest('is paid once when marked fifty times at once', async ({ api, shop, m }) => {
    await referral(m);
    await m.purchase('n', 'o1', 100);
    const { id } = await m.exportPayouts();
    const responses = await Promise.all(Array.from({ length: 50 }, () => m.pay(id)));
    expect(new Set(responses.map((response) => response.text)).size).toBe(1);
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 20 });
    expect(await countRows(api, shop, 'ledger_entries')).toBe(3);
  });

  merchantTest(
    'that overlaps with a paid one pays what no other has paid, and is closed without any',
    async ({ api, shop, m }) => {
      await referral(m);
      await m.purchase('n', 'o1', 100);
      const open = '?include_open=true';
      const [a, b] = [await m.exportPayouts(), await m.exportPayouts(open)];
      await m.purchase('n', 'o2', 50);
      const c = await m.exportPayouts(open);
      expect((await m.pay(a.id)).body).toEqual({ paid: 1, totals: { usd: 20 } });
      // The line of b has nothing left, the line of c has.
      expect(await m.payout(b.id)).toMatchObject({
        status: 'paid',
        lines: [{ status: 'paid', amount: 20, paid_amount: 0, paid_at: expect.any(String) }],
      });
      expect((await m.pay(b.id)).body).toEqual({ paid: 0, totals: {} });
      expect((await m.fail(b.id, b.lines[0]?.partner_id ?? '')).status).toBe(409);
      expect((await m.payout(c.id)).status).toBe('open');
      expect((await m.pay(c.id)).body).toEqual({ paid: 1, totals: { usd: 10 } });
      expect(await m.payout(c.id)).toMatchObject({
        status: 'paid',
        lines: [{ amount: 30, paid_amount: 10, commissions: 2 }],
      });
      expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 30 });
      expect((await m.stats('r')).affiliate.payouts).toHaveLength(2);
      expect(await verifyLedger(api.stores.pool, [shop.workspace.id])).toMatchObject({ ok: true });
    },
  );

  merchantTest(
    'leaves out what is in an open file of the same format and program, and says which',
    async ({ api, shop, m }) => {
      const { programId } = await referral(m);
      await m.purchase('n', 'o1', 100);
      const first = await m.exportPayouts();
      expect(first.headers['x-left-out']).toBeUndefined();
      const second = await m.exportPayouts();
      expect([second.lines, second.headers['x-left-out']]).toEqual([[], `1;export_id="${first.id}"`]);
      expect(second.headers['x-held-back']).toBe('in_open_file=1');
      await m.purchase('n', 'o2', 50);
      const third = await m.exportPayouts();
      expect(third.lines).toMatchObject([{ amount: '10.00', commissions: '1' }]);
      expect(third.headers['x-left-out']).toBe(`1;export_id="${first.id}"`);
      const fourth = await m.exportPayouts();
      expect(fourth.headers['x-left-out']).toBe(`1;export_id="${first.id}", 1;export_id="${third.id}"`);
      // Other formats and scopes, and an explicit request for all.
      for (const query of ['?format=paypal', `?program_id=${programId}`, '?include_open=true']) {
        const response = await shop.get<string>(`/payouts/export${query}`);
        expect([response.text.includes('30.00'), response.headers['x-left-out']]).toEqual([true, undefined]);
        await shop.delete(`/payouts/${response.headers['x-export-id']}`);
      }
      await shop.delete(`/payouts/${first.id}`);
      expect((await m.exportPayouts()).lines).toMatchObject([{ amount: '20.00' }]);
      expect((await m.pay(third.id)).body).toEqual({ paid: 1, totals: { usd: 10 } });
      expect(await verifyLedger(api.stores.pool, [shop.workspace.id])).toMatchObject({ ok: true });
    },
  );

  merchantTest(
    'of the command is written once, and says who is left out and which file they wait for',
    async ({ api, shop, m }) => {
      const { programId } = await referral(m);
      await m.purchase('n', 'o1', 100);
      const disk = temporaryDataDir();
      const fileOf = (name: string) => join(disk.dataDir, name);
      const args = (name: string, ...more: string[]) => [
        'payout',
        'export',
        '--workspace',
        shop.workspace.id,
        '--output',
        fileOf(name),
        ...more,
      ];
      const { json, run, refused } = operator(api.stores);
      const made = await json<ExportedPayout>(...args('a.csv', '--format', 'paypal', '--program', programId));
      const none = { left_out: [], held_back: {}, rounded: 0 };
      expect(made).toMatchObject({ ...none, file: fileOf('a.csv'), lines: 1, totals: { usd: 20 } });
      const text = await readFile(fileOf('a.csv'), 'utf8');
      expect(text).toMatch(/^r@pay\.example,20\.00,USD,/);
      expect((await stat(fileOf('a.csv'))).mode & 0o777).toBe(0o600);
      const later = await run(...args('b.csv', '--format', 'paypal', '--program', programId));
      expect(later.stdout).toContain(`left out: 1 referrer in the open file ${made.export_id}\n`);
      expect(await readFile(fileOf('b.csv'), 'utf8')).toBe('');
      await refused(1, /--output can't be written: EEXIST/, ...args('a.csv'));
      await refused(
        2,
        /method: must be wise in a file for wise/,
        ...args('c.csv', '--format', 'wise', '--method', 'paypal'),
      );
      // A file that could not be written is not stored.
      expect((await shop.get<{ payouts: unknown[] }>('/payouts')).body.payouts).toHaveLength(2);
      const all = await json<ExportedPayout>(
        ...args('d.csv', '--format', 'paypal', '--program', programId, '--include-open'),
      );
      expect(all).toMatchObject({ ...none, lines: 1 });
      disk.remove();
    },
  );

  merchantTest('changes no balance when created, and an empty one pays no user', async ({ m }) => {
    await referral(m);
    await m.purchase('n', 'o1', 100);
    await m.exportPayouts();
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 20, paid: 0 });
    await m.pay((await m.exportPayouts()).id);
    const empty = await m.exportPayouts();
    expect(empty.lines).toEqual([]);
    expect((await m.pay(empty.id)).body).toEqual({ paid: 0, totals: {} });
  });

  merchantTest(
    'includes commissions that have become eligible before the hold-period job runs',
    async ({ api, m }) => {
      const { programId } = await referral(m, { hold_days: 1 });
      await m.purchase('n', 'o1', 100);
      await api.stores.admin.query(
        `ALTER TABLE commissions DISABLE TRIGGER commissions_moves;
       UPDATE commissions SET eligible_at = now() WHERE program_id = '${programId}';
       ALTER TABLE commissions ENABLE TRIGGER commissions_moves`,
      );
      expect((await m.exportPayouts()).lines).toMatchObject([{ amount: '20.00' }]);
    },
  );

  merchantTest('leaves out suspended referrers, whose balance stays', async ({ api, shop, m }) => {
    await referral(m);
    await m.purchase('n', 'o1', 100);
    const given = { workspace: shop.workspace.id, externalUserId: 'r' };
    await setStatus(api.stores.pool, { ...given, status: 'suspended' });
    expect((await m.exportPayouts()).lines).toEqual([]);
    await setStatus(api.stores.pool, { ...given, status: 'approved' });
    expect((await m.exportPayouts()).lines).toHaveLength(1);
  });

  merchantTest('covers one program or all, and this workspace only', async ({ api, m }) => {
    const { programId } = await referral(m);
    await m.purchase('n', 'o1', 100);
    const second = await m.program({ commission_rate: 10, hold_days: 0, currency: 'jpy' });
    const { ref, partner_id } = await m.enroll('s', { program_id: second.id });
    await m.address(partner_id, 's');
    await m.signup('n2', { ref_code: ref });
    await m.purchase('n2', 'o2', 1000, { currency: 'jpy' });
    expect((await m.exportPayouts(`?program_id=${programId}`)).lines).toMatchObject([{ amount: '20.00' }]);
    const both = await m.exportPayouts();
    expect(both.lines).toMatchObject([
      { amount: '20.00', currency: 'usd' },
      { amount: '100', currency: 'jpy' },
    ]);
    const other = await api.addWorkspace();
    expect((await other.post('/payouts', { export_id: both.id })).status).toBe(404);
    expect((await other.get(`/payouts/export?program_id=${programId}`)).status).toBe(404);
    expect((await m.pay(both.id)).body).toEqual({ paid: 2, totals: { usd: 20, jpy: 100 } });
  });

  merchantTest('requires a secret key and valid ids', async ({ shop }) => {
    const options = { key: shop.publishableKey };
    expect((await shop.get('/payouts/export', options)).status).toBe(403);
    expect((await shop.post('/payouts', { export_id: crypto.randomUUID() }, options)).status).toBe(403);
    expect((await shop.get('/payouts/export?program_id=x')).status).toBe(400);
    expect((await shop.post('/payouts', {})).status).toBe(400);
    expect((await shop.post('/payouts', { export_id: 'x' })).status).toBe(400);
    expect((await shop.post('/payouts', { export_id: crypto.randomUUID() })).status).toBe(404);
  });
});
