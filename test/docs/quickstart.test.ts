import { type ExecFileException, execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stats } from '../../api/referrals/schemas.ts';
import { freePort } from '../../cli/embedded/free-port.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { blocksOf, ROOT, readDocument } from './markdown.ts';

let served: ServedWorkspace;
let service: ServedWorkspace['service'];

beforeAll(async () => {
  served = await servedWorkspace();
  service = served.service;
});
afterAll(async () => {
  await served.close();
});

/** Returns the shell blocks of a document, except those that start the service. */
function commandsOf(path: string): string[] {
  return blocksOf(readDocument(path), 'sh').filter((block) => !block.startsWith('npm ci\n'));
}

/**
 * Runs blocks in one shell, like a reader who pastes them, against a running service.
 *
 * @returns the output of each block
 * @throws Error with everything printed, when a command fails
 */
async function paste(
  blocks: string[],
  { demo, api_url, short_url }: ServedWorkspace['service'],
  port = 4000,
): Promise<string[]> {
  const separator = '--- next block ---';
  const script = blocks.join(`\necho; echo '${separator}'\n`);
  const own = script
    .replaceAll('lk_live_...', demo.secret_key)
    .replaceAll('pk_live_...', demo.publishable_key)
    .replaceAll('http://127.0.0.1:3000/api/v1', api_url)
    .replaceAll('http://127.0.0.1:8080', short_url)
    .replaceAll(/\b4000\b/g, String(port));
  const stdout = await new Promise<string>((resolve, reject) => {
    const done = (error: ExecFileException | null, out: string, err: string) =>
      error ? reject(new Error(`${error.message}\n${out}\n${err}`)) : resolve(out);
    const env = { ...process.env, PORT: String(port) };
    const cleaned = `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${own}`;
    execFile('bash', ['-euc', cleaned], { cwd: ROOT, env, timeout: 170_000 }, done);
  });
  return stdout.split(separator);
}

/** Calls the API of the workspace. */
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

const jsonLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

test('the quickstart works as printed', async () => {
  const blocks = commandsOf('docs/quickstart.md');
  const outputs = new Map(
    (await paste(blocks, service, await freePort())).map((output, n) => [
      /^# (.*)$/m.exec(blocks[n] ?? '')?.[1] ?? `block ${n}`,
      output,
    ]),
  );
  const all = [...outputs.values()].join('\n');
  const responses = jsonLines(all);
  expect(responses.filter((response) => response.error)).toEqual([]);

  const ofBlock = (start: string) =>
    [...outputs].find(([comment]) => comment.startsWith(start))?.[1] ?? `no block begins with "${start}"`;
  const links = ofBlock('Create a link.');
  expect(links).toContain('HTTP/1.1 302');
  const [created] = jsonLines(links);
  const found = jsonLines(links).find((answer) => answer.clicks);
  expect(found.clicks).toContainEqual(
    expect.objectContaining({ link_id: created.links[0].id, is_bot: false }),
  );

  const [program, enrolled, signup, purchase, stats] = jsonLines(ofBlock('A program that pays'));
  expect(enrolled).toMatchObject({ program_id: program.id, status: 'approved' });
  expect(signup).toMatchObject({ matched: true, partner_id: enrolled.partner_id, blocked: false });
  expect(purchase).toMatchObject({ matched: true, rewarded: true, ledger_rows: 1 });
  expect(stats).toMatchObject({
    stats: { clicks: 1, signups: 1, purchases: 1, conversion_rate: 1 },
    rewards: { cash: { currency: 'usd', pending: 10 } },
  });

  // The order names the visitor of a click before it.
  const [, , reported] = jsonLines(ofBlock('Grace follows the link.'));
  expect(reported.links).toContainEqual(
    expect.objectContaining({ link_id: created.links[0].id, conversions: 1, revenue: 19.99 }),
  );

  expect(ofBlock('Create a webhook.')).toContain('webhook.test {}');
  expect(ofBlock('A page with a short link')).toContain('<title>Ada Lovelace</title>');
  expect(outputs.size).toBe(blocks.length);
  expect([...outputs.values()].at(-2)).toContain('/embed.js');
  // It leaves nothing that fails afterwards.
  expect(await call('/webhooks')).toMatchObject({ webhooks: [] });
});

test('the overview has the figures that the quickstart promises', async () => {
  const [, table = ''] = readDocument('docs/quickstart.md').split('## What the overview shows');
  const [names = [], , figures = []] = [...table.matchAll(/^\|(.*)\|$/gm)].map(([, row = '']) =>
    row.split('|').map((cell) => cell.trim()),
  );
  const metrics = names.map((name) => name.toLowerCase());
  expect(metrics).toEqual(['clicks', 'visitors', 'leads', 'conversions', 'revenue']);
  const promised = Object.fromEntries(metrics.map((metric, n) => [metric, Number(figures[n])]));
  // The request of the console's overview.
  const overview = async () =>
    (await call('/analytics/query', { metrics, window: { days: 30 } })) as { totals: object };
  await expect.poll(async () => (await overview()).totals).toEqual(promised);
});

test("an order that the referee's server tracks is a purchase too, and both are in reports", async () => {
  await call('/track/order', { external_user_id: 'heidi', order_id: '2002', amount: 100, currency: 'usd' });
  const stats = async () => (await call('/referrals/stats?external_user_id=ada')) as Stats;
  await expect.poll(stats).toMatchObject({ rewards: { cash: { pending: 30 } }, stats: { purchases: 2 } });
  // Attributed to the referral click: the signup named the user's visitor.
  const referral = async () =>
    ((await call('/channels')) as { channels: { channel: string }[] }).channels.find(
      ({ channel }) => channel === 'referral',
    );
  await expect.poll(referral).toMatchObject({ channel: 'referral', conversions: 2 });
});
