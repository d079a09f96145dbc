import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SessionBody } from '../api/session/schemas.ts';
import { directoryId } from '../cli/processes/record-file.ts';
import { type TestApi, type TestWorkspace, testApi } from './support/api.ts';
import { hoplog, operator } from './support/hoplog.ts';
import { MAIL_ENVIRONMENT, startMailer } from './support/mail-bench.ts';
import { linkIn, startMailServer } from './support/mail-server.ts';
import { consoleBrowser, PASSWORD, signedInAs } from './support/members.ts';

type Made = {
  invite: {
    url: string;
    mailed: boolean;
    expires_at: string;
    role: string;
    email: string | null;
    workspace_id: string;
  };
};

let api: TestApi;
let shop: TestWorkspace;
let cli: ReturnType<typeof operator>;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace({ name: 'Corner Shop' });
  cli = operator(api.stores, { APP_URL: 'https://app.example' });
});
afterAll(() => api.close());

const accept = ({ invite }: Made, body: object) =>
  consoleBrowser(api).call<SessionBody>('POST', '/session/invite', {
    body: { token: invite.url.split('#')[1], ...body },
  });

test("console invite prints a link to an owner's account, and says when it expires", async () => {
  const requestedAt = Date.now();
  const made = await cli.json<Made>('console', 'invite', '--workspace', 'corner-shop');
  expect(made).toEqual({
    invite: {
      url: expect.stringMatching(/^https:\/\/app\.example\/console\/welcome#[\w-]{43}$/),
      mailed: false,
      expires_at: expect.any(String),
      role: 'owner',
      email: null,
      workspace_id: shop.workspace.id,
    },
  });
  expect(Date.parse(made.invite.expires_at)).toBeGreaterThanOrEqual(requestedAt + 15 * 60_000 - 1_000);
  const accepted = await accept(made, { email: 'first@shop.example', password: PASSWORD });
  expect([accepted.status, accepted.body.member]).toMatchObject([
    200,
    { email: 'first@shop.example', role: 'owner' },
  ]);
});

test('console invite mails the link in the language of the workspace, where a mail server is set', async () => {
  const { pool } = api.stores;
  const server = await startMailServer();
  const mailer = startMailer(pool, server.url);
  await pool.query("UPDATE workspaces SET language = 'de' WHERE id = $1", [shop.workspace.id]);
  const mailing = operator(api.stores, { ...MAIL_ENVIRONMENT, SMTP_URL: server.url });
  const given = ['console', 'invite', '--workspace', 'corner-shop', '--email', 'Mia@shop.example'];
  const made = await mailing.json<Made>(...given, '--role', 'operator');
  expect(made.invite).toMatchObject({ url: null, mailed: true, email: 'mia@shop.example' });
  expect(Date.parse(made.invite.expires_at)).toBeGreaterThan(Date.now() + 2 * 86_400_000);
  const mail = await server.untilMailTo('mia@shop.example', 'Einladung zu Corner Shop');
  const url = linkIn(mail, '/console/welcome');
  expect(
    (await accept({ invite: { ...made.invite, url } }, { password: PASSWORD })).body.member,
  ).toMatchObject({
    email: 'mia@shop.example',
    role: 'operator',
  });
  const shown = await mailing.json<Made>(...given, '--no-mail');
  expect(shown.invite).toMatchObject({ mailed: false, url: expect.stringContaining('/console/welcome#') });
  await mailer.stop();
  await server.close();
});

test('console invite takes a role and an email, and restores access of a member who lost the password', async () => {
  const given = ['--workspace', shop.workspace.id, '--email', 'Ann@Shop.example', '--role', 'analyst'];
  const made = await cli.json<Made>('console', 'invite', ...given);
  expect(made.invite).toMatchObject({ role: 'analyst', email: 'ann@shop.example' });
  const { body } = await accept(made, { password: PASSWORD });
  const again = await cli.json<Made>('console', 'invite', '--workspace', 'corner-shop', ...given.slice(2, 4));
  expect(again.invite.role).toBe('analyst');
  const back = await accept(again, { password: 'a new password' });
  expect(back.body.member).toEqual(body.member);
});

test('console invite prints the link as text without --json, and rejects an unknown workspace', async () => {
  const ended = await cli.run('console', 'invite', '--workspace', 'corner-shop');
  expect(ended).toMatchObject({ status: 0, stderr: '' });
  expect(ended.stdout).toMatch(
    /\nhttps:\/\/app\.example\/console\/welcome#[\w-]{43}\nThe link works once\.\n$/,
  );
  await cli.refused(
    1,
    /no workspace has the id or slug "nowhere"/,
    'console',
    'invite',
    '--workspace',
    'nowhere',
  );
});

test('beside a running start the link leads to the console of that start', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-invite-'));
  try {
    mkdirSync(join(directory, 'run'));
    const { databaseUrl, databaseOwnerUrl, clickhouseUrl, clickhouseDatabase } = api.stores;
    const left = {
      databaseUrl,
      databaseOwnerUrl,
      clickhouseUrl,
      baseUrl: 'http://a:1',
      shortUrl: 'http://b:2',
      health: { ingest: '', api: '' },
      directory: directoryId(join(directory, 'run')),
    };
    const urlWith = async (more: object) => {
      writeFileSync(join(directory, 'run', 'supervisor.json'), JSON.stringify({ ...left, ...more }));
      const env = { DATA_DIR: directory, CLICKHOUSE_DATABASE: clickhouseDatabase };
      const ended = await hoplog(['console', 'invite', '--workspace', 'corner-shop', '--json'], env);
      return new URL((JSON.parse(ended.stdout) as Made).invite.url).origin;
    };
    expect(await urlWith({ appUrl: 'http://c:3' })).toBe('http://c:3');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test("an operator's invitation signs out the sessions of a member whose browser was stolen", async () => {
  const stolen = await signedInAs(api, shop, 'operator');
  const made = await cli.json<Made>(
    ...['console', 'invite', '--workspace', 'corner-shop', '--email', stolen.email],
  );
  await accept(made, { password: 'a new password' });
  expect((await stolen.call('GET', '/session')).status).toBe(401);
});
