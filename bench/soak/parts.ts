import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../../cli/embedded/clickhouse.ts';
import { freePort } from '../../cli/embedded/free-port.ts';
import { serviceUrlOf, startEmbeddedPostgres } from '../../cli/embedded/postgres.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { createLocalDeployment, type LocalDeployment } from '../../test/deploy/local-deployment.ts';
import { type LocalNginx, NO_NGINX, startNginx, writeNginxConfig } from '../../test/deploy/nginx.ts';
import { startKafka, type TestKafka } from '../../test/support/kafka.ts';
import { type Hosts, makeHosts, offerAt } from './hosts.ts';
import { probedAt } from './inspector.ts';
import { type MortalStore, startMortalStore } from './store.ts';

export const INGEST = ['ingest-0', 'ingest-1', 'ingest-2'];
export const WORKERS = ['workers-0', 'workers-1'];
export const APIS = ['api-0', 'api-1'];
export const DATABASE = 'hoplog';

/** A cluster on this machine: the processes of `docker-compose.yml`, brokers, and databases. */
export type Parts = {
  directory: string;
  deployment: LocalDeployment;
  kafka: TestKafka;
  postgres: MortalStore;
  clickhouse: MortalStore;
  /** The secret key of the workspace `demo`. */
  key: string;
  /** Origins of redirects: nginx, or each ingest process if nginx is not installed. */
  redirects: string[];
  /** Origins of the API, below `/api/v1`. */
  apis: string[];
  /** With `--hosts`; else null. */
  hosts: Hosts | null;
  close(): Promise<void>;
};

/** Services of each host, for `--hosts 2`. */
const ON_HOSTS = [
  ['ingest-0', 'workers-0', 'api-0'],
  ['ingest-1', 'ingest-2', 'workers-1', 'api-1'],
];

/**
 * Starts the cluster, each part in a directory that `close` removes.
 *
 * @param given.hosts whether the processes of Hoplog run on two hosts of their own
 * @param given.say called with each step
 * @throws the signal's reason when it is aborted, after all parts are stopped
 */
export async function startParts(given: {
  hosts: boolean;
  say: (text: string) => void;
  signal: AbortSignal;
}): Promise<Parts> {
  const { say, signal } = given;
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-soak-'));
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of closing.toReversed()) await end().catch((error: unknown) => say(String(error)));
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const hosts = given.hosts ? makeHosts(ON_HOSTS) : null;
    if (hosts) closing.push(async () => hosts.close());
    say('starting three brokers');
    const kafka = await startKafka(3, undefined, hosts?.serverAddress);
    closing.push(() => kafka.close());
    signal.throwIfAborted();
    say('starting PostgreSQL and ClickHouse');
    const log = silentLogger();
    const ports = { postgres: await freePort(), clickhouse: await freePort() };
    const dataDir = join(directory, 'stores');
    const postgres = await startMortalStore(() =>
      startEmbeddedPostgres({ dataDir, log, port: ports.postgres }),
    );
    closing.push(() => postgres.stop());
    const clickhouse = await startMortalStore(() =>
      startEmbeddedClickHouse({ dataDir, log, port: ports.clickhouse }),
    );
    closing.push(() => clickhouse.stop());
    signal.throwIfAborted();
    if (hosts) {
      for (const port of Object.values(ports)) {
        const offered = await offerAt(hosts.serverAddress, port);
        closing.push(async () => offered.close());
      }
    }
    const fromHosts = (url: string) => (hosts ? url.replace('127.0.0.1', hosts.serverAddress) : url);
    const deployment = createLocalDeployment(directory, {
      databaseUrl: fromHosts(serviceUrlOf(postgres.url)),
      databaseOwnerUrl: fromHosts(postgres.url),
      clickhouseUrl: fromHosts(clickhouse.url),
      clickhouseDatabase: DATABASE,
      brokers: kafka.brokers,
      replication: 3,
      settings: probedAt,
      ...(hosts && { place: hosts.place, frontNetwork: hosts.frontNetwork }),
    });
    closing.push(() => deployment.stop());
    say('starting three ingest processes, two workers and two APIs');
    const printed = await deployment.run('migrate');
    await deployment.start([...INGEST, ...WORKERS, ...APIS]);
    const nginx = NO_NGINX === false ? await startFront(directory, deployment) : null;
    if (nginx) closing.push(() => nginx.stop());
    const front = [deployment.host('nginx')];
    return {
      directory,
      deployment,
      kafka,
      postgres,
      clickhouse,
      key: /secret key\s+(\S+)/.exec(printed)?.[1] ?? '',
      redirects: (nginx ? front : INGEST.map(deployment.host)).map((host) => `http://${host}:8080`),
      apis: (nginx ? front : APIS.map(deployment.host)).map((host) => `http://${host}:3000/api/v1`),
      hosts,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function startFront(directory: string, deployment: LocalDeployment): Promise<LocalNginx> {
  return startNginx(writeNginxConfig(directory, deployment.host), deployment.host);
}
