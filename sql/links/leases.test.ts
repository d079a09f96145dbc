import { expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { storesTest as it } from '../../test/support/fixtures.ts';
import { makeLink, makeWorkspace } from '../../test/support/ingest.ts';
import { registerStream, retireStream } from '../event-log/streams.ts';
import { addUsedPermits, claimLease, leasePermits, returnPermits } from './leases.ts';

it('a link is used up once only retired streams have permits left', async ({ stores }) => {
  const { pool } = stores;
  const { id: linkId } = await makeLink(pool, (await makeWorkspace(pool)).id, 'https://example.com/', {
    max_clicks: 60,
  });
  const { streamId: gone } = await registerStream(pool, 'ingest-0');
  const { streamId } = await registerStream(pool, 'ingest-1');
  expect(await leasePermits(pool, { linkId, streamId: gone, needed: 60 })).toMatchObject({ granted: 60 });
  const spent = async () => {
    const result = await leasePermits(pool, { linkId, streamId, needed: 1 });
    return result.kind === 'none_left' && result.spent;
  };
  expect(await spent()).toBe(false);
  await retireStream(pool, gone);
  expect(await spent()).toBe(true);
});

it('permits are not returned under a generation from before the last claim', async ({ stores }) => {
  const { pool } = stores;
  const { id: linkId } = await makeLink(pool, (await makeWorkspace(pool)).id, 'https://example.com/', {
    max_clicks: 60,
  });
  const { streamId } = await registerStream(pool, 'ingest-2');
  const { generation } = await claimLease(pool, { linkId, streamId });
  await leasePermits(pool, { linkId, streamId, needed: 20 });
  expect(await returnPermits(pool, { linkId, streamId, count: 5, generation })).toBe(15);
  const claimed = await claimLease(pool, { linkId, streamId });
  expect(claimed).toMatchObject({ granted: 15, used: 0 });
  expect(await returnPermits(pool, { linkId, streamId, count: 5, generation })).toBe(null);
  expect(await returnPermits(pool, { ...claimed, linkId, streamId, count: 4 })).toBe(11);
});

it('clicks newer than a restored backup count as used, even without a lease', async ({ stores }) => {
  const { pool } = stores;
  const { id: linkId } = await makeLink(pool, (await makeWorkspace(pool)).id, 'https://example.com/', {
    max_clicks: 60,
  });
  const { streamId } = await registerStream(pool, 'ingest-3');
  const { streamId: other } = await registerStream(pool, 'ingest-4');
  expect(await leasePermits(pool, { linkId, streamId, needed: 10 })).toMatchObject({ granted: 10 });
  await addUsedPermits(pool, [
    { linkId, streamId, clicks: 25 },
    { linkId, streamId: other, clicks: 30 },
    { linkId: uuidv7(), streamId, clicks: 1 },
  ]);
  expect(await claimLease(pool, { linkId, streamId: other })).toMatchObject({ used: 30 });
  expect(await leasePermits(pool, { linkId, streamId, needed: 9 })).toEqual({
    kind: 'granted',
    granted: 25 + 5,
    remaining: 0,
  });
  const none = { kind: 'none_left', excess: 0 };
  expect(await leasePermits(pool, { linkId, streamId, needed: 1 })).toMatchObject({ ...none, spent: true });
  expect(await leasePermits(pool, { linkId, streamId: other, needed: 1 })).toMatchObject({
    ...none,
    spent: false,
  });
});
