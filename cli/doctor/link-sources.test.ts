import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openFileTarget } from '../../core/file-targets/open.ts';
import { readConfig } from '../../core/settings/config.ts';
import { RECORDS_VERSION } from '../../ingest/link-table/disk/links-file.ts';
import { type Manifest, snapshotKeys, writeManifest } from '../../ingest/link-table/snapshot/manifest.ts';
import { migrate } from '../../sql/database/migrate.ts';
import { createPool } from '../../sql/database/pool.ts';
import { readSecrets } from '../../sql/database/secrets.ts';
import { changesAfter } from '../../sql/links/link-changes.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../../test/support/replicated-postgres.ts';
import { startS3 } from '../../test/support/s3-server.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { freePort } from '../embedded/free-port.ts';
import { checkSnapshot } from './links-snapshot.ts';
import { checkReplica } from './read-replica.ts';

let directory: string;
let stores: TestStores;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-link-sources-'));
  stores = await testStores();
});
afterAll(async () => {
  await stores?.close();
  rmSync(directory, { recursive: true, force: true });
});

const has = (severity: string, message: RegExp) => [
  expect.objectContaining({ severity, message: expect.stringMatching(message) }),
];

test('a replica: none, one of the primary, one that is behind, others, and one that does not respond', {
  timeout: 240_000,
}, async () => {
  const postgres: ReplicatedPostgres = await startReplicatedPostgres(directory, {
    isSynchronous: false,
  });
  onTestFinished(() => postgres.stop());
  const databaseUrl = postgres.urlOf((url) => url);
  const owner = createPool(databaseUrl);
  onTestFinished(() => owner.end());
  await migrate(owner);
  const check = (databaseReadUrl: string, lagMs = 20_000) =>
    checkReplica({ databaseUrl, databaseReadUrl }, lagMs);

  expect(await check('')).toEqual([]);
  expect(await check(postgres.standbyUrl)).toEqual(
    has('ok', /^DATABASE_READ_URL is a standby of the primary, and had its newest commit within \d+ ms$/),
  );
  expect(await check(databaseUrl)).toEqual(has('warning', /is the primary itself/));
  expect(await check(stores.databaseUrl, 200)).toEqual(has('error', /does not replicate DATABASE_URL's/));
  expect(
    await checkReplica({ databaseUrl: stores.databaseUrl, databaseReadUrl: postgres.standbyUrl }, 200),
  ).toEqual(has('error', /does not replicate DATABASE_URL's server/));
  expect(await check(`postgres://nobody@127.0.0.1:${await freePort()}/hoplog`)).toEqual(
    has('error', /^DATABASE_READ_URL does not respond: .*ECONNREFUSED/),
  );

  await postgres.onStandby('SELECT pg_wal_replay_pause()');
  expect(await check(postgres.standbyUrl, 200)).toEqual(
    has(
      'warning',
      /more than 0\.2 s behind: it lacks [1-9]\d* bytes of WAL, and its newest commit is \d+ s old;/,
    ),
  );
  await postgres.onStandby('SELECT pg_wal_replay_resume()');
  expect(await check(postgres.standbyUrl)).toEqual(has('ok', /is a standby of the primary/));
  const { rows } = await owner.query("SELECT FROM job_leases WHERE starts_with(job, 'linkMarker/')");
  expect(rows).toEqual([]);
});

test('a snapshot of links: none, damaged, old, of another start, and current, in a folder and a bucket', async () => {
  const s3 = await startS3();
  onTestFinished(() => s3.close());
  const config = readConfig(s3.env);
  const keys = snapshotKeys((await readSecrets(stores.pool)).cookie);
  const { server } = await changesAfter(stores.pool, { xid: '0', id: '-1' }, 1);
  for (const to of [join(directory, 'snapshots'), s3.target]) {
    const target = openFileTarget(to, config.s3);
    const check = () => checkSnapshot({ ...config, databaseUrl: stores.databaseUrl, linksSnapshotTo: to });
    const write = (ageMs: number, changes: Partial<Manifest> = {}) =>
      writeManifest(target, keys, {
        version: RECORDS_VERSION,
        syncPoint: { cursor: '1', at: Date.now() - ageMs, server },
        set: 'a-set',
        formerSet: null,
        links: 40,
        parts: [],
        ...changes,
      });
    expect(await check()).toEqual(has('warning', /: there is none of this deployment$/));
    // The folder is left to ingest.
    expect(readdirSync(directory)).not.toContain('snapshots');
    await write(0);
    expect(await check()).toEqual(has('ok', /is 0 minutes old and has 40 links$/));
    expect((await target.list('links/')).length).toBe(1);
    await write(3 * 3_600_000);
    expect(await check()).toEqual(has('warning', /is 180 minutes old/));
    await write(7 * 3_600_000);
    expect(await check()).toEqual(has('warning', /^no new volume can be filled from .*: it is too old$/));
    await write(0, { syncPoint: { cursor: '1', at: Date.now(), server: 'the former' } });
    expect(await check()).toEqual(has('warning', /PostgreSQL has started again since$/));
    await target.put(`${keys.folder}/manifest.json`, Buffer.from('{}'));
    expect(await check()).toEqual(has('warning', /is damaged, or of another deployment$/));
    if (to !== s3.target) rmSync(to, { recursive: true });
  }
});

test('a snapshot in a place that cannot be read or written', async () => {
  const config = readConfig({});
  const check = (linksSnapshotTo: string, s3 = config.s3) =>
    checkSnapshot({ databaseUrl: stores.databaseUrl, linksSnapshotTo, s3 });
  expect(await check('')).toEqual([]);
  expect(await check('s3://links')).toEqual(has('error', /^cannot read .*needs AWS_ACCESS_KEY_ID/));
  const file = join(directory, 'file');
  writeFileSync(file, '');
  expect(await check(file)).toEqual(has('error', /^cannot read LINKS_SNAPSHOT_TO=.*ENOTDIR/));
  const taken = join(directory, 'taken');
  mkdirSync(join(taken, 'doctor.probe', 'in-the-way'), { recursive: true });
  expect(await check(taken)).toEqual(has('error', /^cannot write to LINKS_SNAPSHOT_TO=/));
  const { env, close } = await startS3();
  await close();
  expect(await check('s3://missing/links', readConfig(env).s3)).toEqual(
    has('error', /^cannot read LINKS_SNAPSHOT_TO=s3:\/\/missing\/links: .*no response/),
  );
});
