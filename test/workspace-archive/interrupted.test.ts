import { describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { leasePermits } from '../../sql/links/leases.ts';
import type { TestApi } from '../support/api.ts';
import type { TestStores } from '../support/stores.ts';
import { archiveTest } from './fixtures.ts';
import { contentOf, importFrom, PROOFS, rowsIn } from './support.ts';

type Moved = { path: string; fresh(): Promise<{ stores: TestStores }> };

describe('an import that was interrupted between clicks and rows shows nothing', () => {
  const interrupted = async ({ path, fresh }: Moved) => {
    const { stores } = await fresh();
    const failing = { ...stores, pool: refusing(stores.pool, 'INSERT INTO slugs') };
    await expect(importFrom(path, failing, { proofs: PROOFS })).rejects.toThrow('killed');
    expect((await stores.pool.query('SELECT FROM workspaces')).rowCount).toBe(0);
    return stores;
  };

  archiveTest('and is completed by the next one', async ({ moved: { shop, path, files, fresh } }) => {
    const stores = await interrupted({ path, fresh });
    await importFrom(path, stores, { proofs: PROOFS });
    expect(await contentOf(await files.write(stores, shop.workspace.id))).toEqual(await contentOf(path));
  });

  archiveTest(
    'and gives way to another archive of the workspace',
    async ({ moved: { old, shop, path, files, fresh } }) => {
      const stores = await interrupted({ path, fresh });
      const newer = await files.write(old.stores, shop.workspace.id);
      const { tables } = await importFrom(newer, stores, { proofs: PROOFS });
      const again = await contentOf(await files.write(stores, shop.workspace.id));
      expect(Object.entries(again).map(([table, part]) => [table, (part as { rows: number }).rows])).toEqual(
        Object.entries(tables),
      );
      expect(await verifyLedger(stores.pool, [shop.workspace.id])).toMatchObject({ ok: true });
    },
  );
});

archiveTest(
  'visits that count for max_clicks count on, and are in the next archive',
  async ({ moved: { old, shop, files, fresh } }) => {
    const link = await shop.post<{ links: { id: string }[] }>('/links', {
      destination_url: 'https://shop.example/',
      name: 'few',
      channel: 'reddit',
      max_clicks: 10,
      external: true,
    });
    const id = link.body.links[0]?.id ?? '';
    const stream = await registerStream(old.stores.pool, 'ingest');
    await leasePermits(old.stores.pool, { linkId: id, streamId: stream.streamId, needed: 4 });
    await old.stores.pool.query('UPDATE link_leases SET used = 4 WHERE link_id = $1', [id]);
    const archive = await files.write(old.stores, shop.workspace.id);
    const { stores } = await fresh();
    await importFrom(archive, stores, { proofs: PROOFS });
    const there = await registerStream(stores.pool, 'ingest');
    const leased = await leasePermits(stores.pool, { linkId: id, streamId: there.streamId, needed: 100 });
    expect(leased).toMatchObject({ kind: 'granted', granted: 6, remaining: 0 });
    await stores.pool.query('UPDATE link_leases SET used = 5 WHERE link_id = $1', [id]);
    const rows = await rowsIn(await files.write(stores, shop.workspace.id), 'links');
    expect(rows.find((row) => row.id === id)).toMatchObject({ used_elsewhere: 9 });
  },
);

/** Returns a pool whose transactions fail at a statement. */
function refusing(pool: TestApi['stores']['pool'], begin: string): typeof pool {
  return new Proxy(pool, {
    get(target, name) {
      if (name !== 'connect') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
      return async () => {
        const client = await target.connect();
        return new Proxy(client, {
          get(inner, key) {
            const value = Reflect.get(inner, key);
            if (key !== 'query') return typeof value === 'function' ? value.bind(inner) : value;
            return (text: unknown, ...rest: unknown[]) =>
              String(text).startsWith(begin)
                ? Promise.reject(new Error('killed'))
                : value.call(inner, text, ...rest);
          },
        });
      };
    },
  });
}
