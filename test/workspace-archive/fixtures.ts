import { test } from 'vitest';
import { testApi } from '../support/api.ts';
import { testStores } from '../support/stores.ts';
import { archives, plantWorkspace } from './support.ts';

/**
 * Tests with a full workspace, `shop` of the deployment `old`, and its archive at `path`, which the tests of a file
 * share. `fresh` returns the databases of another, empty deployment.
 */
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the fixtures that this one needs from the pattern
export const archiveTest = test.extend('moved', { scope: 'file' }, async ({}, { onCleanup }) => {
  const files = archives();
  const old = await testApi();
  const opened: { close(): Promise<void> }[] = [old];
  onCleanup(async () => {
    files.remove();
    for (const one of opened) await one.close();
  });
  const shop = await old.addWorkspace({ name: 'Tea shop' });
  await plantWorkspace(old, shop);
  const path = await files.write(old.stores, shop.workspace.id);
  const fresh = async () => {
    const stores = await testStores();
    opened.push(stores);
    return { stores };
  };
  return { old, shop, path, files, fresh };
});
