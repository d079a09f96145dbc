import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import { imageOf } from './images.ts';
import type { Servers } from './servers.ts';

const PASSWORD = 'test';

/**
 * Starts both databases as containers, from the images of `deploy/images.env`: for machines without embedded ones, or
 * to run the tests against the servers' own builds.
 */
export async function startContainers(): Promise<Servers> {
  const [postgres, clickhouse] = await Promise.all([
    new GenericContainer(imageOf('POSTGRES_IMAGE'))
      .withEnvironment({
        POSTGRES_USER: 'hoplog',
        POSTGRES_PASSWORD: PASSWORD,
        // Uses the same sort order as the embedded one.
        POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8',
      })
      .withCommand(['postgres', '-c', 'max_connections=200', '-c', 'fsync=off'])
      .withExposedPorts(5432)
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      .start(),
    new GenericContainer(imageOf('CLICKHOUSE_IMAGE'))
      .withEnvironment({ CLICKHOUSE_USER: 'hoplog', CLICKHOUSE_PASSWORD: PASSWORD })
      .withExposedPorts(8123)
      .withWaitStrategy(Wait.forHttp('/ping', 8123))
      .start(),
  ]);
  return {
    databaseSocket: '',
    databaseUrl: `postgres://hoplog:${PASSWORD}@${address(postgres, 5432)}/hoplog`,
    clickhouseUrl: `http://hoplog:${PASSWORD}@${address(clickhouse, 8123)}`,
    async stop() {
      await Promise.all([postgres.stop(), clickhouse.stop()]);
    },
  };
}

function address(container: StartedTestContainer, port: number): string {
  return `${container.getHost()}:${container.getMappedPort(port)}`;
}
