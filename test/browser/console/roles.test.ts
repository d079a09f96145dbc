import { expect, test, vi } from 'vitest';
import { createPool } from '../../../sql/database/pool.ts';
import { storesOf } from '../../kafka/deployment.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean } from './console-site.ts';

vi.setConfig({ testTimeout: 240_000 });

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

test('an analyst reads who can do what a page suggests to others', async () => {
  const { links } = await site.api<{ links: { id: string }[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Read only',
    channel: 'other',
  });
  const hook = await site.api<{ id: string }>('/webhooks', {
    url: 'http://127.0.0.1:9/roles',
    events: ['click.created'],
  });
  await site.api('/domains', { domain: 'go.roles.example' });
  const pool = createPool(storesOf(site.dataDir).databaseUrl, { max: 1 });
  await pool.query('UPDATE webhooks SET is_active = false, disabled_at = now() WHERE id = $1', [hook.id]);
  await pool.end();
  for (const [path, own, others] of [
    [`/links/${links[0]?.id}`, 'Design', null],
    [`/webhooks/${hook.id}`, 'Once your server works', 'Operators of the workspace can enable it again.'],
    ['/referrals?tab=payouts', 'Download one once', 'Operators of the workspace download them.'],
    ['/domains', 'Make a domain the default', null],
    ['/settings', 'Upload a logo', 'An owner of the workspace can upload one.'],
  ] as const) {
    const owner = await site.open(path);
    await owner.getByText(own).first().waitFor();
    await owner.close();
    const analyst = await site.open(path, { role: 'analyst' });
    if (others) await analyst.getByText(others).first().waitFor();
    else await analyst.getByRole('heading', { level: 1 }).waitFor();
    await analyst.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
    await expect.poll(() => analyst.getByText(own).count()).toBe(0);
    expectClean(analyst);
    await analyst.close();
  }
});
