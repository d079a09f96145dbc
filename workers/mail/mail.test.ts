import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { openCredentials } from '../../core/settings/credentials.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { failExpiredMails, mailContext } from '../../sql/mail/mail-queue.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { createMailSealers } from '../../sql/mail/sealer.ts';
import { subscriptionOf, unsubscribe } from '../../sql/mail/unsubscribes.ts';
import { setWorkspaceLogo } from '../../sql/workspaces/logos.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { storesTest } from '../../test/support/fixtures.ts';
import { type Mailer, mailTo, queueMail, queueNotice, startMailer } from '../../test/support/mail-bench.ts';
import { certificateFor, linkIn, type MailServer, startMailServer } from '../../test/support/mail-server.ts';
import { until } from '../../test/support/until.ts';
import { metric } from '../../test/support/worker-rig.ts';
import { MAIL_LEASE_MS } from './mail.ts';

const SCRIPT = fileURLToPath(new URL('../../test/support/killed-mailer.ts', import.meta.url));
/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const HOUR = 3_600_000;
const SHORT = { connection: 500, greeting: 500, response: 500 };

let server: MailServer;
let mailers: Mailer[] = [];
beforeEach(async () => {
  server = await startMailServer();
});
afterEach(async () => {
  await Promise.all(mailers.map((mailer) => mailer.stop()));
  mailers = [];
  await server.close();
});

function work(...args: Parameters<typeof startMailer>): Mailer {
  const mailer = startMailer(...args);
  mailers.push(mailer);
  return mailer;
}

const rowIn = (pool: Pool, recipient: string, status: string) =>
  until(
    `the mail ${status}`,
    () => mailTo(pool, recipient),
    (row): row is NonNullable<typeof row> => row?.status === status,
  );

const workspaceIn = (pool: Pool, name = 'Corner Shop') => createWorkspace(pool, { name, plan: 'pro' });

describe('a mail', () => {
  storesTest('has text, HTML and the name and logo of its workspace', async ({ stores: { pool } }) => {
    const { id } = await workspaceIn(pool, 'Tea & <b>Cakes</b>');
    await setWorkspaceLogo(pool, id, PNG);
    const recipient = await queueNotice(pool, id);
    work(pool, server.url);
    const mail = await server.untilMailTo(recipient);
    expect(mail.from?.value).toEqual([{ name: 'Corner Shop', address: 'mail@shop.example' }]);
    expect(mail.replyTo?.text).toBe('help@shop.example');
    expect(mail.subject).toBe('Your password was changed');
    expect(mail.text).toContain('Time: November 29, 2026 at 9:18:00 PM UTC\nBrowser: Firefox on Linux');
    expect(mail.text).toContain('sign in to Tea & <b>Cakes</b>.');
    expect(mail.html).toContain('Tea &#38; &#60;b&#62;Cakes');
    expect(mail.attachments.map(({ cid, content }) => [cid, content])).toEqual([['logo@hoplog', PNG]]);
    expect(mail.headers.get('auto-submitted')).toBe('auto-generated');
    expect(mail.headers.has('list-unsubscribe')).toBe(false);
    expect(linkIn(mail, '/console/settings')).toBe('https://app.example/console/settings?tab=sign-in');
    const row = await rowIn(pool, recipient, 'delivered');
    expect(mail.messageId).toBe(`<${row.id}@shop.example>`);
    // The content may hold a link that signs in.
    expect(row).toMatchObject({ attempts: 1, error: null, content: null });
  });

  storesTest('is in the language of its workspace', async ({ stores: { pool } }) => {
    const { id } = await workspaceIn(pool);
    await pool.query("UPDATE workspaces SET language = 'ar' WHERE id = $1", [id]);
    const recipient = await queueNotice(pool, id);
    work(pool, server.url);
    const mail = await server.untilMailTo(recipient);
    expect(mail.subject).toBe('تم تغيير كلمة مرورك');
    expect(mail.text).toContain('المتصفح: Firefox on Linux');
    expect(mail.text).toContain('29 نوفمبر 2026');
    expect(mail.html).toContain('<html lang="ar" dir="rtl">');
    expect(mail.html).toContain('<div role="main" lang="ar" dir="rtl">');
  });

  storesTest(
    'of an account is in the language that all its workspaces have',
    async ({ stores: { pool } }) => {
      const recipient = 'ines@members.example';
      const join = async (language: string | null) => {
        const { id } = await workspaceIn(pool);
        await pool.query('UPDATE workspaces SET language = $2 WHERE id = $1', [id, language]);
        await pool.query(
          "INSERT INTO members (id, workspace_id, email, role) VALUES (gen_random_uuid(), $1, $2, 'owner')",
          [id, recipient],
        );
      };
      const languageOf = async () => (await mailContext(pool, { workspaceId: null, recipient })).language;
      expect(await languageOf()).toBeNull();
      await join('pl');
      expect(await languageOf()).toBe('pl');
      await join('pl');
      expect(await languageOf()).toBe('pl');
      await join(null);
      expect(await languageOf()).toBeNull();
    },
  );

  storesTest('exists only if the transaction that causes it commits', async ({ stores: { pool } }) => {
    const { id } = await workspaceIn(pool);
    const content = { kind: 'payout_address_change', at: new Date().toISOString() } as const;
    const queue = (recipient: string, ends: boolean) =>
      inTransaction(pool, async (tx) => {
        await createOutbox(true).queue(tx, [{ workspaceId: id, recipient, content }]);
        if (ends) throw new Error('rolled back');
      });
    await expect(queue('gone@members.example', true)).rejects.toThrow('rolled back');
    await queue('here@members.example', false);
    work(pool, server.url);
    await server.untilMailTo('here@members.example');
    expect(await mailTo(pool, 'gone@members.example')).toBeUndefined();
    await createOutbox(false).queue(pool, [{ workspaceId: id, recipient: 'off@members.example', content }]);
    expect(await mailTo(pool, 'off@members.example')).toBeUndefined();
  });

  storesTest('names no link and no lines that a name holds', async ({ stores: { pool } }) => {
    const { id } = await workspaceIn(pool, 'Win at https://evil.example/now\u2028Bcc: x@evil.example');
    const url = 'https://app.example/console/welcome#token';
    const expiresAt = new Date().toISOString();
    await queueMail(pool, id, 'victim@members.example', {
      kind: 'invitation',
      url,
      role: 'analyst',
      invitedBy: null,
      expiresAt,
    });
    work(pool, server.url);
    const mail = await server.untilMailTo('victim@members.example');
    expect(mail.subject).not.toMatch(/[\r\n]|evil\.example/);
    const links = [...(mail.text ?? '').matchAll(/https?:\/\/[^\s\u2060]+/g)].map(([found]) => found);
    expect(links.filter((found) => !found.startsWith('https://app.example'))).toEqual([]);
    expect(`${mail.text}${mail.html}`).not.toMatch(/evil\.example|x@evil/);
    expect(mail.to).toMatchObject({ text: 'victim@members.example' });
  });

  storesTest('about no own account can be ended for good', async ({ stores: { pool } }) => {
    const { id } = await workspaceIn(pool);
    const invite = (recipient: string) =>
      queueMail(pool, id, recipient, {
        kind: 'invitation',
        url: 'https://app.example/console/welcome#token',
        role: 'operator',
        invitedBy: 'owner@shop.example',
        expiresAt: new Date().toISOString(),
      });
    await invite('tired@members.example');
    work(pool, server.url);
    const mail = await server.untilMailTo('tired@members.example');
    expect(mail.text).toContain('owner@shop.example invites you to the workspace Corner Shop as operator');
    const header = /^List-Unsubscribe:\s*<(\S+?)>/im.exec(mail.raw.replaceAll(/\r\n[ \t]+/g, ''))?.[1] ?? '';
    expect(mail.raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/im);
    expect(header).toMatch(/^https:\/\/api\.example\/api\/v1\/mails\/unsubscribe\?token=/);
    const token = new URL(header).searchParams.get('token') ?? '';
    expect(new URL(linkIn(mail, '/console/unsubscribe')).hash).toBe(`#${token}`);
    const { unsubscribes } = await createMailSealers()(pool);
    const subscription = subscriptionOf(unsubscribes, token);
    expect(subscription).toEqual({ workspaceId: id, email: 'tired@members.example' });
    if (subscription) await unsubscribe(pool, subscription);
    await pool.query('DELETE FROM mails');
    await invite('tired@members.example');
    const row = await rowIn(pool, 'tired@members.example', 'canceled');
    expect(row.error).toContain('wants no mail');
    expect(server.mails).toHaveLength(1);
  });
});

describe('a server', () => {
  storesTest('with TLS from the start gets mails and the password', async ({ stores: { pool } }) => {
    const tls = certificateFor('127.0.0.2');
    const given: unknown[] = [];
    const secure = await startMailServer({
      ...tls,
      host: '127.0.0.2',
      secure: true,
      user: 'shop:p%40ss@',
      authOptional: false,
      onAuth({ username, password }, _, done) {
        given.push([username, password]);
        done(null, { user: username });
      },
    });
    const recipient = await queueNotice(pool, null);
    work(pool, secure.url, { ca: tls.cert });
    expect((await secure.untilMailTo(recipient)).wasEncrypted).toBe(true);
    expect(given).toEqual([['shop', 'p@ss']]);
    await secure.close();
  });

  storesTest('takes the new password of SMTP_URL_FILE without a restart', async ({ stores: { pool } }) => {
    const tls = certificateFor('127.0.0.2');
    let valid = 'first';
    const secure = await startMailServer({
      ...tls,
      host: '127.0.0.2',
      secure: true,
      authOptional: false,
      onAuth({ username, password }, _, done) {
        if (password === valid) done(null, { user: username });
        else done(new Error('wrong password'));
      },
    });
    const directory = mkdtempSync(join(tmpdir(), 'hoplog-smtp-'));
    const file = join(directory, 'smtp-url');
    const give = (password: string) => {
      const url = secure.url.replace('//', `//shop:${password}@`);
      writeFileSync(file, `${url}\n`);
      return url;
    };
    const env = { SMTP_URL_FILE: file, MAIL_FROM: 'mail@shop.example' };
    const server = openCredentials('smtpUrl', give('first'), { log: silentLogger(), env });
    work(pool, server, { ca: tls.cert });
    await secure.untilMailTo(await queueNotice(pool, null));
    valid = 'second';
    give('second');
    const later = await queueNotice(pool, null);
    await secure.untilMailTo(later);
    // Within the same attempt.
    expect(await rowIn(pool, later, 'delivered')).toMatchObject({ attempts: 1 });
    rmSync(directory, { recursive: true });
    await secure.close();
  });

  storesTest('gets no password without TLS, or with another certificate', async ({ stores: { pool } }) => {
    const tls = certificateFor('127.0.0.2');
    const onAuth: NonNullable<Parameters<typeof startMailServer>[0]>['onAuth'] = (_, __, done) =>
      done(null, { user: 'x' });
    const options = { host: '127.0.0.2', user: 'shop:pass@', onAuth };
    const plain = await startMailServer({ ...options, allowInsecureAuth: true });
    const foreign = await startMailServer({ ...options, ...tls });
    for (const [refusing, words] of [
      [plain, /STARTTLS/i],
      [foreign, /self-signed/],
    ] as const) {
      const recipient = await queueNotice(pool, null);
      const mailer = startMailer(pool, refusing.url);
      const { error } = await until(
        'a failed attempt',
        () => mailTo(pool, recipient),
        (row): row is NonNullable<typeof row> => (row?.attempts ?? 0) > 0,
      );
      expect(error).toMatch(words);
      await mailer.stop();
      await pool.query('DELETE FROM mails');
      expect(refusing.mails).toEqual([]);
      await refusing.close();
    }
    const recipient = await queueNotice(pool, null);
    const trusted = await startMailServer({ ...options, ...tls });
    work(pool, trusted.url, { ca: tls.cert });
    expect((await trusted.untilMailTo(recipient)).wasEncrypted).toBe(true);
    await trusted.close();
  });

  storesTest(
    'that refuses the recipient ends the mail; the others do not wait',
    async ({ stores: { pool } }) => {
      const refused = await queueNotice(pool, null);
      server.behave('refuse_recipient');
      const { registry } = work(pool, server.url);
      const row = await rowIn(pool, refused, 'failed');
      expect(row).toMatchObject({ attempts: 1, content: null, next_attempt_at: null });
      expect(row.error).toContain('no such user');
      server.behave('work');
      await server.untilMailTo(await queueNotice(pool, null));
      expect(await metric(registry, 'hoplog_mail_finished_total', { outcome: 'failed' })).toBe(1);
    },
  );

  storesTest(
    'that defers, refuses the sender, or is gone gets the mail later',
    async ({ stores: { pool } }) => {
      const first = await queueNotice(pool, null);
      let ahead = 0;
      const options = { now: () => Date.now() + ahead, random: () => 0, waits: SHORT };
      const failed = (attempts: number) =>
        until(
          `attempt ${attempts}`,
          () => mailTo(pool, first),
          (row): row is NonNullable<typeof row> => row?.attempts === attempts,
        );
      server.behave('defer');
      work(pool, server.url, options);
      expect((await failed(1)).error).toContain('greylisted');
      server.behave('refuse_sender');
      ahead = 11_000;
      expect((await failed(2)).error).toContain('sender is not allowed');
      const { port } = new URL(server.url);
      await server.close();
      ahead += 61_000;
      expect((await failed(3)).error).toContain('ECONNREFUSED');
      server = await startMailServer({ port: Number(port) });
      ahead += 301_000;
      const mail = await server.untilMailTo(first);
      expect(mail.messageId).toBe(`<${(await rowIn(pool, first, 'delivered')).id}@shop.example>`);
    },
  );

  storesTest('that never responds delays no other mail, and holds no stop', async ({ stores: { pool } }) => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const recipient = await queueNotice(pool, null);
    const mailer = startMailer(pool, `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    await until(
      'the claim',
      async () => (await mailTo(pool, recipient))?.next_attempt_at?.getTime() ?? 0,
      (due) => due > Date.now() + MAIL_LEASE_MS / 2,
    );
    const began = performance.now();
    await mailer.stop(0);
    expect(performance.now() - began).toBeLessThan(3_000);
    silent.close();
    // Released at the stop: the next worker need not wait for the lease.
    work(pool, server.url);
    await server.untilMailTo(recipient);
    expect(await rowIn(pool, recipient, 'delivered')).toMatchObject({ attempts: 1 });
  });

  storesTest('that is gone for a day fails the mail with its last words', async ({ stores: { pool } }) => {
    const recipient = await queueNotice(pool, null);
    expect(await failExpiredMails(pool, Date.now() + 23 * HOUR)).toBe(0);
    await pool.query("UPDATE mails SET error = 'connect ECONNREFUSED', attempts = 20");
    expect(await failExpiredMails(pool, Date.now() + 25 * HOUR)).toBe(1);
    expect(await mailTo(pool, recipient)).toMatchObject({
      status: 'failed',
      content: null,
      error: 'connect ECONNREFUSED',
    });
  });
});

storesTest('workspaces take turns, however many mails one has', async ({ stores: { pool } }) => {
  const many = await workspaceIn(pool, 'Many');
  const one = await workspaceIn(pool, 'One');
  for (let n = 0; n < 40; n++) await queueNotice(pool, many.id);
  const [recipient, account] = [await queueNotice(pool, one.id), await queueNotice(pool, null)];
  work(pool, server.url);
  await server.untilMailTo(recipient);
  await server.untilMailTo(account);
  expect(server.mails.length).toBeLessThan(20);
  await until(
    'all mails',
    () => server.mails.length,
    (count) => count === 42,
  );
});

storesTest(
  'workers killed with SIGKILL lose no mail, and a second copy has the same Message-ID',
  async ({ stores: { pool, databaseUrl } }) => {
    const recipients: string[] = [];
    for (const step of ['claimed', 'hanging', 'answered'] as const) {
      const recipient = await queueNotice(pool, null);
      recipients.push(recipient);
      server.behave(step === 'hanging' ? 'hang' : 'work');
      const before = server.seen;
      const child = spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', SCRIPT, databaseUrl, server.url, step],
        { stdio: 'inherit' },
      );
      const ended = once(child, 'exit');
      if (step === 'hanging') {
        await until('the mail arrives', () => server.seen > before, Boolean);
        child.kill('SIGKILL');
      }
      expect(await ended).toEqual([null, 'SIGKILL']);
      expect(await mailTo(pool, recipient)).toMatchObject({ status: 'pending', attempts: 0 });
    }
    server.behave('work');
    // Two workers, past the claims of the dead ones.
    const now = () => Date.now() + MAIL_LEASE_MS + 1_000;
    work(pool, server.url, { now });
    work(pool, server.url, { now });
    for (const recipient of recipients) await rowIn(pool, recipient, 'delivered');
    const copies = Map.groupBy(server.mails, ({ envelopeTo }) => envelopeTo[0]);
    // The server had accepted the last one before its worker died.
    expect(recipients.map((recipient) => copies.get(recipient)?.length)).toEqual([1, 1, 2]);
    const twice = copies.get(recipients[2] ?? '') ?? [];
    expect(new Set(twice.map(({ messageId }) => messageId)).size).toBe(1);
    expect(new Set(twice.map(({ html }) => html)).size).toBe(1);
  },
);
