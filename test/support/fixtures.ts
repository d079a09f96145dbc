import { test } from 'vitest';
import { testApi } from './api.ts';
import { testStores } from './stores.ts';

/** Tests with `stores`, the databases of their file. */
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the fixtures that this one needs from the pattern
export const storesTest = test.extend('stores', { scope: 'file' }, async ({}, { onCleanup }) => {
  const stores = await testStores();
  onCleanup(() => stores.close());
  return stores;
});

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the fixtures that this one needs from the pattern
const onApi = test.extend('api', { scope: 'file' }, async ({}, { onCleanup }) => {
  const api = await testApi();
  onCleanup(() => api.close());
  return api;
});

/** Tests with `api`, the API of their file, and `shop`, a new workspace for each test. */
export const apiTest = onApi.extend('shop', ({ api }) => api.addWorkspace());

/** Tests with `api` and `shop`, a workspace that the tests of the file share. */
export const sharedShopTest = onApi.extend('shop', { scope: 'file' }, ({ api }) => api.addWorkspace());
