import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { databaseUrlsOf, TEST_OWNER } from '../support/database-url.ts';
import { startKafka } from '../support/kafka.ts';
import { onClickHouse, onPostgres } from '../support/shared-servers.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { createPodNetwork, type PodNetwork } from './pod-network.ts';
import { type Rendering, type Resource, renderChart, type Values } from './rendering.ts';

/** An installation of the chart whose pods run on this machine. */
export type InstalledChart = {
  cluster: Cluster;
  network: PodNetwork;
  rendering: Rendering;
  /** The Secret `hoplog`. */
  secret: Record<string, string>;
  /** The role of `DATABASE_URL`, which only this installation has. */
  role: string;
  close(): Promise<void>;
};

/**
 * Installs the chart as `helm install` does, with PostgreSQL and ClickHouse of the test run and a broker of its own as
 * external servers: runs the hook, then starts every pod.
 *
 * @param values besides the origins and the broker
 * @param prepare names other servers for the pods, before any of them starts
 */
export async function installChart(
  values: Values,
  prepare: (cluster: Cluster) => Promise<void>,
): Promise<InstalledChart> {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-pods-'));
  const database = `hoplog_test_${randomBytes(8).toString('hex')}`;
  const role = `${database}_service`;
  const network = createPodNetwork();
  const cluster = createCluster(directory, network);
  const ends: (() => Promise<unknown>)[] = [];
  const close = async () => {
    await cluster.close();
    await network.close();
    for (const end of ends) await end();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await onPostgres(`CREATE DATABASE ${database} OWNER ${TEST_OWNER}`);
    ends.push(
      () => onPostgres(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`, `DROP ROLE IF EXISTS ${role}`),
      () => onClickHouse(`DROP DATABASE IF EXISTS ${database} SYNC`),
    );
    const kafka = await startKafka(1, undefined, network.host.ipv4);
    ends.push(kafka.close);
    const { databaseUrl, databaseOwnerUrl } = databaseUrlsOf(inject('databaseUrl'), database);
    // Migrations create the role.
    const serviceUrl = Object.assign(new URL(databaseUrl), { username: role }).href;
    const service = await external(cluster, 'postgres.example', 5432, serviceUrl);
    const owner = passwordApart('postgres.example', 5432, databaseOwnerUrl);
    const clickhouse = await external(cluster, 'clickhouse.example', 8123, inject('clickhouseUrl'));
    const secret = {
      DATABASE_URL: service.url,
      DATABASE_PASSWORD: service.password,
      DATABASE_OWNER_URL: owner.url,
      DATABASE_OWNER_PASSWORD: owner.password,
      CLICKHOUSE_URL: clickhouse.url,
      CLICKHOUSE_PASSWORD: clickhouse.password,
    };
    cluster.setSecret('hoplog', secret);
    await prepare(cluster);
    const rendering = renderChart({
      shortUrl: 'http://go.example',
      baseUrl: 'http://api.example',
      trustProxy: network.blocks,
      clickhouse: { database },
      kafka: { brokers: kafka.brokers, replication: 1, partitions: 2 },
      networkPolicy: {
        kafka: { ports: kafka.nodes.map(({ address }) => Number(address.split(':').at(-1))) },
      },
      ...values,
    });
    const hookOf = ({ metadata }: Resource) => metadata.annotations?.['helm.sh/hook'] ?? '';
    const before = rendering.resources.filter((one) => hookOf(one).startsWith('pre-install'));
    for (const job of before) await cluster.runJob(job);
    await cluster.apply(rendering.resources.filter((one) => hookOf(one) === ''));
    return { cluster, network, rendering, secret, role, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Names a server of this machine for pods. @returns its address there, and the password apart from it */
async function external(
  cluster: Cluster,
  name: string,
  port: number,
  address: string,
): Promise<{ url: string; password: string }> {
  const { hostname, port: local } = new URL(address);
  await cluster.name(name, port, { host: hostname, port: Number(local) });
  return passwordApart(name, port, address);
}

function passwordApart(name: string, port: number, address: string): { url: string; password: string } {
  const url = new URL(address);
  const password = decodeURIComponent(url.password);
  url.password = '';
  url.hostname = name;
  url.port = String(port);
  return { url: url.href, password };
}
