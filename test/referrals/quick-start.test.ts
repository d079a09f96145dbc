import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stats } from '../../api/referrals/schemas.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';

const README = new URL('../../README.md', import.meta.url);

/** The commands under a heading of the README, as printed. */
async function commandsOf(heading: string): Promise<string> {
  const text = await readFile(README, 'utf8');
  const section = text.split(`\n## ${heading}\n`)[1] ?? '';
  const block = /```sh\n([\s\S]*?)```/.exec(section)?.[1];
  if (block === undefined) throw new Error(`the README has no commands under ${heading}`);
  return block;
}

let served: ServedWorkspace;
let service: ServedWorkspace['service'];

beforeAll(async () => {
  served = await servedWorkspace();
  service = served.service;
}, 120_000);
afterAll(async () => {
  await served.close();
});

test("the README's referral quick start works as printed", { timeout: 60_000 }, async () => {
  const { stdout } = await promisify(execFile)('bash', ['-euc', await commandsOf('Refer a friend')], {
    env: { ...process.env, API: service.api_url, KEY: service.demo.secret_key },
  });
  const [program, enrolled, signup, purchase, stats] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(enrolled).toMatchObject({ program_id: program.id, status: 'approved' });
  expect(signup).toMatchObject({ matched: true, partner_id: enrolled.partner_id, blocked: false });
  expect(purchase).toMatchObject({ matched: true, rewarded: true, ledger_rows: 1 });
  expect(stats).toMatchObject({
    stats: { clicks: 1, signups: 1, purchases: 1, conversion_rate: 1 },
    rewards: { cash: { currency: 'usd', pending: 10 } },
  });
});

test("an order that the referee's server tracks is a purchase too, and both stand in reports", {
  timeout: 60_000,
}, async () => {
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${service.api_url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${service.demo.secret_key}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.json();
  };
  await call('/track/order', { external_user_id: 'grace', order_id: '1002', amount: 100, currency: 'usd' });
  const stats = async () => (await call('/referrals/stats?external_user_id=ada')) as Stats;
  await expect.poll(async () => (await stats()).rewards.cash.pending, { timeout: 20_000 }).toBe(30);
  expect((await stats()).stats.purchases).toBe(2);
  // Attributed to the referral click: the signup named the user's visitor.
  const referral = async () => ((await call('/channels')) as { channels: object[] }).channels[0];
  await expect.poll(referral, { timeout: 20_000 }).toMatchObject({ channel: 'referral', conversions: 2 });
});
