import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { blocksOf, readDocument } from './markdown.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

test('every link that docs/links.md shows can be created', async () => {
  const bodies = blocksOf(readDocument('docs/links.md'), 'json');
  expect(bodies).toHaveLength(2);
  for (const body of bodies) {
    const { status, text } = await shop.post('/links', JSON.parse(body));
    expect([status, text]).toEqual([201, text]);
  }
});
