import { expect } from 'vitest';
import type { AnalyticsResult } from '../../api/analytics/schemas.ts';
import { sharedShopTest } from '../support/fixtures.ts';
import { storeClicks } from '../support/stored-events.ts';
import { blocksOf, readDocument } from './markdown.ts';

const document = readDocument('docs/analytics.md');

sharedShopTest('every query of the page on analytics is answered', async ({ api, shop }) => {
  await storeClicks(api.stores, [{ workspaceId: shop.workspace.id, columns: { utm_campaign: 'autumn' } }]);
  const queries = blocksOf(document, 'json').map((text) => JSON.parse(text) as Record<string, unknown>);
  expect(queries).toHaveLength(7);
  for (const query of queries) {
    const { status, text } = await shop.post('/analytics/query', query);
    expect([status, text]).toEqual([200, text]);
  }
});

sharedShopTest('the response that it shows has the fields of a real one', async ({ shop }) => {
  const [query = '', shown = ''] = [
    ...blocksOf(document, 'json'),
    ...blocksOf(document, 'json response'),
  ].filter((_, n, all) => n === 0 || n === all.length - 1);
  const { body } = await shop.post<AnalyticsResult>('/analytics/query', JSON.parse(query));
  const fieldsOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.slice(0, 1).map(fieldsOf);
    if (value === null || typeof value !== 'object') return typeof value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, fieldsOf(part)]));
  };
  expect(fieldsOf(body)).toEqual(fieldsOf(JSON.parse(shown)));
});

sharedShopTest('the parameters of clicks that it shows are known', async ({ shop }) => {
  const [command = ''] = blocksOf(document, 'sh').slice(-1);
  const query = /clicks\?([^"]+)"/.exec(command)?.[1];
  expect((await shop.get(`/clicks?${query}`)).status).toBe(200);
});
