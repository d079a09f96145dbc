import { describe, expect } from 'vitest';
import { uuidv7 } from '../core/ids.ts';
import { NOTHING_REMEMBERED } from '../test/support/stored-events.ts';
import { type Rig, rigTest } from '../test/support/worker-rig.ts';
import { click } from './test-support/events.ts';

const NOW = Date.UTC(2026, 10, 20) * 1000;

describe('the workers', () => {
  rigTest('store a click with all that enriching finds', async ({ rig }) => {
    const stream = await rig.stream('ingest-0');
    const { workspace } = rig;
    const [link, visitor] = [uuidv7(), uuidv7()];
    stream.append([click({ workspace, link, visitor, ts: NOW + 123_456 })]);
    rig.work();
    await rig.settled(stream);
    const { count: _count, imported: _imported, ...nothing } = NOTHING_REMEMBERED;
    expect(await rig.ask('SELECT * FROM clicks')).toEqual({
      workspace_id: workspace,
      ts: '2026-11-20 00:00:00.123456000',
      ...nothing,
      // The API forms `count` and `imported` from these columns of the table.
      extra_clicks: 0,
      import_id: '00000000-0000-0000-0000-000000000000',
      link_id: link,
      visitor_id: visitor,
      channel: 'twitter',
      source: 'X',
      source_kind: 'social',
      device: 'mobile',
      browser: 'Mobile Safari',
      os: 'iOS',
      referer: 'https://t.co/abc',
      sequence: '0',
      referer_host: 't.co',
    });
  });

  rigTest('work off what is in the log before they stop', async ({ rig }) => {
    const stream = await rig.stream('ingest-0');
    const { workspace } = rig;
    const workers = rig.work();
    stream.append([click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW })]);
    await rig.settled(stream);
    for (let batch = 1; batch <= 100; batch++) {
      const ts = NOW + batch * 1_000;
      stream.append(
        Array.from({ length: 200 }, (_, i) =>
          click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: ts + i }),
        ),
      );
    }
    await workers.stop(120_000);
    expect(await rig.stored()).toEqual({ rows: 20_001, distinct: 20_001 });
    const { rows } = await rig.stores.pool.query('SELECT held_by, held_until FROM log_lanes');
    expect(rows).toEqual([{ held_by: null, held_until: null }]);
  });

  rigTest('truncate the log once every consumer has processed it', async ({ rig }) => {
    const stream = await rig.stream('ingest-0');
    const { workspace } = rig;
    const freed: bigint[] = [];
    await rig.stores.pool.query(
      `INSERT INTO log_lanes (consumer, partition, next_offset) VALUES ('webhooks', 'ingest-0', 7)`,
    );
    stream.append([click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW })]);
    rig.work({ reader: spying(rig, freed) });
    await rig.settled(stream);
    await expect.poll(() => freed).toEqual([7n]);
  });
});

function spying({ reader }: Rig, freed: bigint[]): Rig['reader'] {
  return {
    partitions: () => reader.partitions(),
    read: (partition, offset, options) => reader.read(partition, offset, options),
    start: (partition) => reader.start(partition),
    end: (partition) => reader.end(partition),
    requestHeartbeats: () => reader.requestHeartbeats(),
    async truncate(_partition, offset) {
      freed.push(offset);
    },
    close: () => reader.close(),
  };
}
