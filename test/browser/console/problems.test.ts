import { expect, test } from 'vitest';
import { createPool } from '../../../sql/database/pool.ts';
import { storesOf } from '../../kafka/deployment.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectGood } from './console-site.ts';

const PATIENCE = { timeout: 60_000 };

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

test('what is wrong is a badge on every page, and its page leads to where it is fixed', async () => {
  const pool = createPool(storesOf(site.dataDir).databaseUrl, { max: 1 });
  const workspace = site.service.demo?.workspace_id;
  const { id } = await site.api<{ id: string }>('/webhooks', {
    url: 'http://127.0.0.1:9/hook?token=secret',
    events: ['click.created'],
  });
  await site.api('/connections', { provider: 'stripe', signing_secret: 'whsec_of_the_test' });
  await pool.query(
    `UPDATE connections SET created_at = created_at - interval '3 days' WHERE workspace_id = $1`,
    [workspace],
  );
  await pool.query(
    `INSERT INTO domains (id, workspace_id, domain, proof, status, missing_since, problem)
     VALUES (gen_random_uuid(), $1, 'go.problems.example', 'x', 'failing', now() - interval '4 days',
       'the TXT record _hoplog.go.problems.example is missing')`,
    [workspace],
  );
  const page = await site.open('/settings');
  const badge = (name: string) => page.getByRole('banner').getByRole('link', { name, exact: true });
  await badge('2 problems').waitFor();
  await pool.query(
    `UPDATE webhooks SET is_active = false, disabled_at = now() - interval '1 hour'
     WHERE id = $1`,
    [id],
  );
  // The badge is read again every half a minute, and may say 3 by now.
  await page
    .getByRole('banner')
    .getByRole('link', { name: /^[23] problems$/ })
    .press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Problems' }).waitFor();
  const rows = page.getByRole('list', { name: 'Problems' }).getByRole('listitem');
  await rows.filter({ hasText: 'The webhook to 127.0.0.1:9 is disabled' }).waitFor();
  expect(await rows.first().textContent()).toContain('1 hour ago');
  // The query of an address may hold a secret.
  expect(await rows.first().textContent()).not.toContain('secret');
  await rows.filter({ hasText: 'The domain go.problems.example fails its check' }).waitFor();
  await rows.filter({ hasText: 'The connection to Stripe has received no event' }).waitFor();
  await expectGood(page, 'problems', 'all');
  await rows.first().getByRole('link').press('Enter');
  // Once the problem is fixed there, the badge changes at once, not with its next read.
  await page.addInitScript(
    'const every = setInterval; setInterval = (run, ms, ...more) => every(run, ms === 30000 ? 600000 : ms, ...more)',
  );
  await page.reload();
  await badge('3 problems').waitFor();
  await page.getByRole('button', { name: 'Enable', exact: true }).press('Enter');
  await badge('2 problems').waitFor(PATIENCE);
  await page.close();

  const analyst = await site.open('/problems', { role: 'analyst' });
  await analyst.getByText('Operators and owners of the workspace can fix it.').first().waitFor();
  await pool.query('DELETE FROM domains WHERE workspace_id = $1', [workspace]);
  await pool.query('UPDATE connections SET last_event_at = now() WHERE workspace_id = $1', [workspace]);
  await analyst.getByText('Nothing is wrong').waitFor(PATIENCE);
  await expectGood(analyst, 'problems-none');
  await analyst.close();
  await pool.end();
});
