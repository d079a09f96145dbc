import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { databaseUrlsOf, TEST_OWNER } from '../support/database-url.ts';
import { startKafka } from '../support/kafka.ts';
import { onClickHouse, onPostgres } from '../support/shared-servers.ts';
import type { StoreAddresses } from '../support/stores.ts';
import { createLocalDeployment, type LocalDeployment } from './local-deployment.ts';

export type TestDeployment = LocalDeployment & {
  /** The directory of its volumes; removed by `close()`. */
  directory: string;
  /** The secret key of the workspace `demo`. */
  key: string;
  /** Addresses of its databases. */
  stores: StoreAddresses;
  close(): Promise<void>;
};

/**
 * The processes of the compose file, migrated and none of them started, on a broker of their own and on databases of
 * their own on the servers that the test run shares.
 *
 * @param settings that the file leaves at their defaults
 * @param clickhouse a server of the test, with the database that it uses there
 */
export async function createTestDeployment(
  settings: Record<string, string> = {},
  clickhouse?: Pick<StoreAddresses, 'clickhouseUrl' | 'clickhouseDatabase'>,
): Promise<TestDeployment> {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-compose-'));
  const name = `hoplog_test_${randomBytes(8).toString('hex')}`;
  await onPostgres(`CREATE DATABASE ${name} OWNER ${TEST_OWNER}`);
  const stores = {
    ...databaseUrlsOf(inject('databaseUrl'), name),
    clickhouseUrl: inject('clickhouseUrl'),
    clickhouseDatabase: name,
    ...clickhouse,
  };
  const kafka = await startKafka(1);
  const deployment = createLocalDeployment(directory, {
    ...stores,
    brokers: kafka.brokers,
    replication: 1,
    settings: () => settings,
  });
  const close = async () => {
    await deployment.stop();
    await kafka.close();
    await onPostgres(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await onClickHouse(`DROP DATABASE IF EXISTS ${name} SYNC`);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const printed = await deployment.run('migrate');
    const key = /secret key\s+(\S+)/.exec(printed)?.[1] ?? '';
    return { ...deployment, directory, key, stores, close };
  } catch (error) {
    await close();
    throw error;
  }
}
