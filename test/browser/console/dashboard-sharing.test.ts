import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
  screenshot,
  WIDTHS,
} from './console-site.ts';
import { fillShop } from './dashboard-desk.ts';
import { address, ask, bar, chart, count, totals } from './dashboard-page.ts';

/** What leaves the dashboard: files, saved views and shared pages. */

const PATIENCE = { timeout: 60_000 };
// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 400_000 });

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  await fillShop(site, { clicks: 9_500, orders: 374, leads: 900, suffix: '-shared' });
  return site.close;
});

/** The cells of a CSV file whose texts have no quotes. */
const cellsOf = (text: string): string[][] =>
  text
    .replace('\uFEFF', '')
    .trim()
    .split('\r\n')
    .map(
      (line) => line.match(/"[^"]*"|[^,]+|(?<=,|^)(?=,|$)/g)?.map((cell) => cell.replaceAll('"', '')) ?? [],
    );

test('the exports hold exactly what is shown', async () => {
  const page = await site.open('/?f=device:is:mobile&place=country');
  const shown = bar(page, 'Countries', 'Germany');
  await shown.waitFor();
  await page.waitForLoadState('networkidle');
  const save = async (press: () => Promise<void>) => {
    const [download] = await Promise.all([page.waitForEvent('download'), press()]);
    const [header = [], ...rows] = cellsOf(readFileSync(await download.path(), 'utf8'));
    return { name: download.suggestedFilename(), header, rows };
  };
  const file = await save(() => page.getByRole('button', { name: 'Export', exact: true }).click());
  expect([file.name, file.header.slice(0, 5)]).toEqual([
    'dashboard-last-30-days.csv',
    ['Report', 'Value', 'Name', 'Clicks', 'Clicks, compared'],
  ]);
  const reports = Object.groupBy(file.rows, ([report = '']) => report);
  expect(Object.fromEntries(Object.entries(reports).map(([name, rows]) => [name, rows?.length]))).toEqual({
    Total: 1,
    Day: 31,
    Channel: 8,
    Country: 8,
    Link: 8,
    Device: 1,
  });
  const germany = reports.Country?.find(([, value]) => value === 'DE');
  expect(await shown.textContent()).toContain(count(Number(germany?.[3])));
  expect(germany?.[2]).toBe('Germany');
  const total = reports.Total?.[0]?.[3];
  expect(await totals(page, 'Clicks').textContent()).toContain(count(Number(total)));
  await page.getByRole('button', { name: 'Show all countries' }).click();
  const dialog = page.getByRole('dialog', { name: 'Countries' });
  await dialog.getByRole('button', { name: 'South Africa' }).waitFor();
  await expectGood(page, 'dashboard-all');
  const all = await save(() => dialog.getByRole('button', { name: 'Export as CSV' }).click());
  expect([all.name, all.rows.length]).toEqual(['country-last-30-days.csv', 10]);
  await dialog.getByRole('button', { name: 'South Africa' }).click();
  await page.getByRole('button', { name: 'Remove the filter Country is South Africa' }).waitFor();
  expectClean(page);
  await page.close();
});

test('a view is saved, opened by an analyst who can not change it, and deleted', async () => {
  const page = await site.open('/?f=country:is:DE&days=7&tech=os', { keepsUndo: true });
  await totals(page, 'Clicks').waitFor();
  await page.getByRole('button', { name: 'Saved views' }).click();
  const dialog = page.getByRole('dialog', { name: 'Saved views' });
  await dialog.getByText('No saved views yet').waitFor();
  await dialog.getByRole('textbox', { name: 'Save this view as' }).fill('Germany this week');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Germany this week', exact: true }).waitFor();
  await expectGood(page, 'dashboard-views');
  const [saved] = (await site.api<{ saved_views: { query: object }[] }>('/saved-views')).saved_views;
  expect(saved?.query).toMatchObject({
    filters: [{ dimension: 'country', operator: 'is', values: ['DE'] }],
    window: { days: 7 },
    dimensions: ['time:day'],
  });
  const analyst = await site.open('/', { role: 'analyst' });
  await analyst.getByRole('button', { name: 'Saved views' }).click();
  const views = analyst.getByRole('dialog', { name: 'Saved views' });
  await views.getByRole('button', { name: 'Germany this week', exact: true }).waitFor();
  expect(await views.getByRole('textbox').count()).toBe(0);
  expect(await views.getByRole('button', { name: /^Delete/ }).count()).toBe(0);
  await views.getByRole('button', { name: 'Germany this week', exact: true }).click();
  await bar(analyst, 'Systems', 'iOS').waitFor();
  expect(address(analyst).toString()).toBe(address(page).toString());
  await analyst.close();
  await dialog.getByRole('button', { name: 'Delete the view Germany this week' }).click();
  await dialog.getByText('No saved views yet').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await dialog.getByRole('button', { name: 'Germany this week', exact: true }).waitFor();
  await page.close();
});

test('an operator annotates the chart, for all members and for boards that show it', async () => {
  const page = await site.open('/', { keepsUndo: true });
  await page.getByRole('button', { name: 'Annotations' }).click();
  const dialog = page.getByRole('dialog', { name: 'Annotations' });
  await dialog.getByText('No annotations yet').waitFor();
  await dialog.getByRole('textbox', { name: 'What happened' }).fill('Version 2 released');
  const day = dialog.getByLabel('Day');
  const today = await day.inputValue();
  // A year that is not typed whole.
  await day.fill('0020-11-30');
  await dialog.getByText('Choose a day from 2000 to 2099.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true);
  await day.fill(today);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByRole('listitem').filter({ hasText: 'Version 2 released' }).waitFor();
  await expectGood(page, 'dashboard-annotations');
  await page.keyboard.press('Escape');
  const notes = (shown: typeof page) => shown.getByRole('list', { name: 'Annotations' });
  await notes(page).getByText('Version 2 released').waitFor();
  await expectGood(page, 'dashboard-annotated');
  // The box beside the pointer has it too, at the end of the chart.
  await page.locator('.u-over').hover({ position: { x: 2, y: 80 } });
  const box = (await page.locator('.u-over').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(box.x + box.width - 2, box.y + 80);
  await page.locator('.chart-hover-note').getByText('Version 2 released').waitFor();

  const analyst = await site.open('/', { role: 'analyst' });
  await notes(analyst).getByText('Version 2 released').waitFor();
  expect(await analyst.getByRole('button', { name: 'Annotations' }).count()).toBe(0);
  await analyst.close();
  const board = await site.api<{ id: string; url: string }>('/shared-dashboards', { name: 'Board' });
  const visitor = await site.open('/', { role: null });
  await visitor.goto(board.url.replace(/^https?:\/\/[^/]+/, site.app));
  await totals(visitor, 'Clicks').waitFor();
  expect(await notes(visitor).count()).toBe(0);
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.getByRole('button', { name: 'Change Board' }).click();
  await page.getByRole('checkbox', { name: 'Show annotations' }).check();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('dialog', { name: 'Shared dashboards' }).waitFor();
  await visitor.reload();
  await notes(visitor).getByText('Version 2 released').waitFor();
  expect(await visitor.getByRole('button', { name: 'Annotations' }).count()).toBe(0);
  await visitor.close();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Annotations' }).click();
  await dialog.getByRole('button', { name: 'Delete the annotation Version 2 released' }).click();
  await dialog.getByText('No annotations yet').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await dialog.getByRole('listitem').filter({ hasText: 'Version 2 released' }).waitFor();
  await site.api(`/shared-dashboards/${board.id}`, undefined, 'DELETE');
  expectClean(page);
  await page.close();
});

test('reports and alerts go to chats where the service sends no mail, with each fault at its field', async () => {
  const page = await site.open('/reports');
  const dialog = page.getByRole('dialog');
  const receiver = dialog.getByRole('textbox', { name: 'Address 1' });
  await page.getByRole('button', { name: 'New report' }).click();
  await dialog.getByText('This service sends no mail').waitFor();
  expect(await dialog.getByLabel('Way 1').inputValue()).toBe('slack');
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Weekly');
  expect(await dialog.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
  await receiver.fill('hooks.chat.example');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect.poll(() => receiver.getAttribute('aria-invalid'), PATIENCE).toBe('true');
  await expectGood(page, 'report-refused');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'New alert' }).click();
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Clicks differ');
  await dialog.getByLabel('Percent').fill('-5');
  await dialog.getByLabel('Hours').fill('0');
  await receiver.fill('https://hooks.chat.example/T0');
  await dialog.getByRole('button', { name: 'Create' }).click();
  for (const field of ['Percent', 'Hours']) {
    await expect.poll(() => dialog.getByLabel(field).getAttribute('aria-invalid'), PATIENCE).toBe('true');
  }
  await expectGood(page, 'alert-refused');
  await page.close();
});

test('visitors who clicked in the last minutes are online now, and lead to their clicks', async () => {
  const slug = `online${site.mail.replaceAll('.', '-')}`;
  const link = {
    destination_url: 'https://shop.example/',
    name: 'Online',
    slug,
    smart: true,
    external: true,
  };
  await site.api('/links', link);
  for (let nth = 0; nth < 3; nth++) await visitNew(`${site.service.short_url}/${slug}`);
  const visitors = async (minutes: number) => {
    const window = {
      from: new Date(Date.now() - minutes * 60_000).toISOString(),
      to: new Date().toISOString(),
    };
    const query = { metrics: ['visitors'], window };
    return (await site.api<{ totals: { visitors: number } }>('/analytics/query', query)).totals.visitors;
  };
  await expect.poll(() => visitors(4), PATIENCE).toBeGreaterThanOrEqual(3);
  const page = await site.open('/');
  const online = page.getByRole('link', { name: / online now$/ });
  await online.waitFor();
  const shown = Number((await online.textContent())?.replace(/\D/g, ''));
  expect(shown).toBeGreaterThanOrEqual(3);
  expect(shown).toBeLessThanOrEqual(await visitors(10));
  await online.click();
  await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor();
  await page.close();
});

test('a shared dashboard shows its scope and nothing else, without a sign-in', async () => {
  const owner = await site.open('/');
  await owner.getByRole('button', { name: 'Share', exact: true }).click();
  const dialog = owner.getByRole('dialog', { name: 'Shared dashboards' });
  await dialog.getByText('No shared dashboards yet').waitFor();
  await dialog.getByRole('button', { name: 'Share a dashboard' }).click();
  const form = owner.getByRole('dialog', { name: 'Share a dashboard' });
  const name = form.getByRole('textbox', { name: 'Name' });
  await expect.poll(() => name.and(owner.locator(':focus')).count(), PATIENCE).toBe(1);
  await name.fill('Autumn for the agency');
  await form.getByRole('combobox', { name: 'What it shows' }).selectOption('tag');
  await form.getByRole('combobox', { name: 'Tags' }).click();
  await owner.getByRole('option', { name: 'autumn' }).click();
  await owner.keyboard.press('Escape');
  await form.getByLabel('Password', { exact: true }).fill('autumn-2026');
  await expectGood(owner, 'dashboard-share');
  await form.getByRole('button', { name: 'Share', exact: true }).click();
  await dialog.getByText('One tag, with a password').waitFor();
  await expectGood(owner, 'dashboard-shared-list');
  type Shared = { shared_dashboards: { id: string; url: string }[] };
  const [shared] = (await site.api<Shared>('/shared-dashboards')).shared_dashboards;
  const url = (shared?.url ?? '').replace(/^https?:\/\/[^/]+/, site.app);
  // A visitor without JavaScript reads of a dashboard, not of a console.
  expect(await (await fetch(url)).text()).toContain('<noscript><p>This dashboard needs JavaScript');

  const page = await site.open('/', { role: null });
  const response = await page.goto(url);
  expect([
    response?.status(),
    response?.headers()['x-robots-tag'],
    response?.headers()['referrer-policy'],
  ]).toEqual([200, 'noindex, nofollow', 'no-referrer']);
  expect(await page.locator('meta[name=robots]').getAttribute('content')).toBe('noindex');
  await page.getByRole('textbox', { name: 'Password' }).fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText(/password is wrong/i).waitFor();
  await page.getByRole('textbox', { name: 'Password' }).fill('autumn-2026');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Autumn for the agency' }).waitFor();
  const { totals: autumn } = await ask(site, {
    filters: [{ dimension: 'tag', operator: 'is', values: ['autumn'] }],
  });
  await chart(page, new RegExp(`^Clicks by day: ${count(autumn.clicks)} in`));
  await page.waitForLoadState('networkidle');
  await expectGood(page, 'shared-dashboard');
  const items = (list: string) => page.getByRole('list', { name: list }).getByRole('listitem').count();
  await expect.poll(() => items('Links'), PATIENCE).toBe(3);
  expect(await page.getByRole('region', { name: 'Totals' }).textContent()).not.toContain('Revenue');
  expect(await page.getByRole('link', { name: /Open the link/ }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Saved views' }).count()).toBe(0);
  await page.getByRole('tab', { name: 'Tags' }).click();
  // The links of the tag have others, which are outside the scope.
  await bar(page, 'Tags', 'autumn').waitFor();
  await expect.poll(() => items('Tags'), PATIENCE).toBe(1);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export', exact: true }).click(),
  ]);
  const text = readFileSync(await download.path(), 'utf8');
  expect(text).toContain('Tag,autumn,autumn,');
  for (const outside of ['sale', 'print', 'lamp', 'Revenue']) expect(text).not.toContain(outside);
  // After a reload the password is still known, and the end of the sharing ends the page.
  await page.reload();
  await bar(page, 'Channels', 'Instagram').waitFor();
  expectClean(page);
  await site.api(`/shared-dashboards/${shared?.id}`, undefined, 'DELETE');
  expect((await page.goto(url))?.status()).toBe(404);
  await page.getByText('This dashboard does not exist, or is no longer shared').waitFor();
  await screenshot(page, 'shared-dashboard-ended');
  await page.close();
  await owner.close();
});

/** Serves a page of another site with this body; its host is not the console's. */
async function startHost(bodyOf: (path: string) => string) {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    // The strictest host: it shows frames only of pages that ask for the same.
    if (request.url === '/') response.setHeader('cross-origin-embedder-policy', 'require-corp');
    response.end(
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Agency</title>
      <body style="margin: 16px; font: 16px system-ui; background: #fdf6e3"><h1>Autumn campaign</h1>
      ${bodyOf(request.url ?? '')}<p id="after">After the frame</p></body></html>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}

test('a page of another site shows a dashboard in a frame as high as its content, and none with a password', async () => {
  const owner = await site.open('/');
  await owner.getByRole('button', { name: 'Share', exact: true }).click();
  const dialog = owner.getByRole('dialog', { name: 'Shared dashboards' });
  await dialog.getByRole('button', { name: 'Share a dashboard' }).click();
  const form = owner.getByRole('dialog', { name: 'Share a dashboard' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Clicks & "reach"');
  const framed = form.getByRole('checkbox', { name: 'Other sites may show it in a frame' });
  await form.getByLabel('Password', { exact: true }).fill('autumn-2026');
  expect(await framed.isDisabled()).toBe(true);
  await form.getByLabel('Password', { exact: true }).fill('');
  await framed.check();
  await form.getByRole('button', { name: 'Share', exact: true }).click();
  await dialog.getByText('All links, for frames').waitFor();
  await dialog.getByRole('button', { name: 'Tag of Clicks & "reach" for a page' }).click();
  const view = owner.getByRole('dialog', { name: 'Clicks & "reach"' });
  await view.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
  await view.getByRole('combobox', { name: 'Background' }).selectOption('color');
  await view.getByRole('textbox', { name: 'Background color', exact: true }).fill('#073642');
  await expectGood(owner, 'dashboard-frame-tag');
  const tag = (await view.getByRole('region', { name: 'Tag' }).textContent()) ?? '';
  await owner.close();

  const { url: locked } = await site.api<{ url: string }>('/shared-dashboards', {
    name: 'Locked',
    password: 'autumn-2026',
  });
  const host = await startHost((path) =>
    path === '/locked' ? `<iframe src="${locked}" title="Locked"></iframe>` : tag,
  );
  const page = await site.open('/', { role: null });
  page.watched.foreign.length = 0;
  await page.goto(`${host.origin}/`);
  const element = page.locator('iframe');
  expect(await element.getAttribute('title')).toBe('Clicks & "reach"');
  await element.scrollIntoViewIfNeeded();
  const board = element.contentFrame();
  await board.getByRole('heading', { level: 1, name: 'Clicks & "reach"' }).waitFor();
  await board.getByRole('list', { name: 'Links' }).waitFor();
  // The page's own header is left out, and the host's look is taken.
  expect(await board.getByText('Hoplog', { exact: true }).count()).toBe(0);
  const inside = <T>(expression: string) => page.frames()[1]?.evaluate(expression) as Promise<T>;
  expect([
    await inside('document.documentElement.dataset.mantineColorScheme'),
    await inside('getComputedStyle(document.body).backgroundColor'),
  ]).toEqual(['dark', 'rgb(7, 54, 66)']);
  const heights = async () => {
    const content = await inside<number[]>(
      '[document.documentElement.getBoundingClientRect().height, document.documentElement.scrollHeight, innerHeight]',
    );
    const all = [...content, (await element.boundingBox())?.height ?? 0];
    return new Set(all.map(Math.ceil)).size;
  };
  // All the same: nothing is cut, and nothing scrolls within the frame.
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await expect.poll(heights, PATIENCE).toBe(1);
    await screenshot(page, `framed-dashboard-${width}`);
  }
  await board.getByRole('tab', { name: 'Tags' }).click();
  await expect.poll(heights, PATIENCE).toBe(1);
  expect(page.watched.violations).toEqual([]);
  const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
  await page.goto(`${host.origin}/locked`);
  await refused;
  host.close();
  await page.close();
});
