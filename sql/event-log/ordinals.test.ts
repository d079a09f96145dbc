import { expect } from 'vitest';
import { storesTest as it } from '../../test/support/fixtures.ts';
import { makeLink, makeWorkspace } from '../../test/support/ingest.ts';
import { addUsedPermits, leasePermits } from '../links/leases.ts';
import { releaseOrdinals } from './ordinals.ts';
import { advanceStreams, readStreams, registerStream, retireStream, streamRecord } from './streams.ts';

const HOUR = 3_600_000_000;

it('the ordinal of a retired stream comes back once nothing refers to it, and its visits stay counted', async ({
  stores,
}) => {
  const { pool } = stores;
  const { id: linkId } = await makeLink(pool, (await makeWorkspace(pool)).id, 'https://example.com/', {
    max_clicks: 60,
  });
  const gone = await registerStream(pool, 'ingest-0');
  const alive = await registerStream(pool, 'ingest-1');
  await leasePermits(pool, { linkId, streamId: gone.streamId, needed: 20 });
  await addUsedPermits(pool, [{ linkId, streamId: gone.streamId, clicks: 15 }]);
  const at = (stream: typeof gone, hour: number) =>
    advanceStreams(pool, [{ ...stream, highWater: 9n, visibleBefore: hour * HOUR }]);
  await at(gone, 100);
  await at(alive, 1_000);
  expect(await releaseOrdinals(pool)).toBe(0);
  await retireStream(pool, gone.streamId);
  expect(await releaseOrdinals(pool)).toBe(0);

  await pool.query(`UPDATE ingest_streams SET retired_at = now() - interval '31 days' WHERE stream_id = $1`, [
    gone.streamId,
  ]);
  await at(alive, 1_000);
  await pool.query(
    `INSERT INTO dead_letters (partition, log_offset, stream_id, sequence, reason, payload)
     VALUES ('p', 1, $1, 1, 'test', '')`,
    [gone.streamId],
  );
  expect(await releaseOrdinals(pool)).toBe(0);
  await pool.query('UPDATE dead_letters SET replayed_at = now()');
  // Its times are too near to those of a stream that is registered now.
  await pool.query('UPDATE ingest_streams SET visible_before = $2 WHERE stream_id = $1', [
    gone.streamId,
    990 * HOUR,
  ]);
  expect(await releaseOrdinals(pool)).toBe(0);
  await pool.query('UPDATE ingest_streams SET visible_before = $2 WHERE stream_id = $1', [
    gone.streamId,
    100 * HOUR,
  ]);

  expect(await releaseOrdinals(pool)).toBe(1);
  expect(await registerStream(pool, 'ingest-2')).toMatchObject({
    ordinal: gone.ordinal,
    notBefore: 1_000 * HOUR,
  });
  expect((await readStreams(pool)).map(({ streamId }) => streamId)).not.toContain(gone.streamId);
  expect(await streamRecord(pool, gone.streamId, 'ingest-0')).toMatchObject({ state: 'retired' });
  // 15 of its 20 visits are known. The other five may have passed too, so they are not granted again.
  const { streamId } = alive;
  expect(await leasePermits(pool, { linkId, streamId, needed: 45 })).toMatchObject({
    granted: 40,
    remaining: 0,
  });
  await addUsedPermits(pool, [{ linkId, streamId, clicks: 40 }]);
  expect(await leasePermits(pool, { linkId, streamId, needed: 1 })).toMatchObject({
    kind: 'none_left',
    spent: true,
  });
});
