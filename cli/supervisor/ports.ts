import { createServer } from 'node:net';
import { type Config, ConfigError } from '../../core/settings/config.ts';
import { type ListenPlace, listenError } from '../../core/tier/listen-error.ts';
import { freePort } from '../embedded/free-port.ts';

/** Ports of one start. The metrics of the supervisor are on METRICS_PORT, those of its children on the next three. */
export type Ports = {
  api: number;
  ingest: number;
  metrics: { supervisor: number; ingest: number; workers: number; api: number };
};

/** Port of a setting, or a following one; 0: any free one. */
type Place = {
  setting: 'API_PORT' | 'INGEST_PORT' | 'METRICS_PORT';
  configured: number;
  port: number;
  host: string;
};

/**
 * Chooses every port before the start: the configured one, or a free one for 0.
 *
 * @throws {ConfigError} naming the setting whose port is in use, not permitted, or used by another setting
 */
export async function settlePorts(config: Config): Promise<Ports> {
  const { host, metricsHost } = config;
  // Checks that the host is an address of this machine, by listening on port 0.
  await assertFree({ setting: 'API_PORT', configured: config.apiPort, port: 0, host });
  await assertFree({ setting: 'METRICS_PORT', configured: config.metricsPort, port: 0, host: metricsHost });
  const api = place('API_PORT', host, config.apiPort);
  const ingest = place('INGEST_PORT', host, config.ingestPort);
  const metrics = (after: number) => place('METRICS_PORT', metricsHost, config.metricsPort, after);
  const [supervisor, ofIngest, ofWorkers, ofApi] = [metrics(0), metrics(1), metrics(2), metrics(3)];
  const configured = [api, ingest, supervisor, ofIngest, ofWorkers, ofApi].filter(({ port }) => port !== 0);
  assertRoom(configured);
  assertApart(configured);
  await assertAllFree(configured);

  const settle = async ({ port, host }: Place) => {
    if (port !== 0) return port;
    for (;;) {
      const free = await freePort(host);
      if (configured.every((other) => other.port !== free)) return free;
    }
  };
  return {
    api: await settle(api),
    ingest: await settle(ingest),
    metrics: {
      supervisor: await settle(supervisor),
      ingest: await settle(ofIngest),
      workers: await settle(ofWorkers),
      api: await settle(ofApi),
    },
  };
}

function place(setting: Place['setting'], host: string, configured: number, after = 0): Place {
  return { setting, host, configured, port: configured === 0 ? 0 : configured + after };
}

function assertRoom(places: Place[]): void {
  for (const { setting, configured, port } of places) {
    if (port <= 65_535) continue;
    throw new ConfigError(
      setting,
      String(configured),
      'leaves no room for the three ports that follow it: must be at most 65532',
    );
  }
}

/** Rejects equal ports, which the check for free ports cannot detect. */
function assertApart(places: Place[]): void {
  const first = new Map<number, Place>();
  for (const one of places) {
    const { setting, configured, port } = one;
    const other = first.get(port);
    if (other) {
      const metrics = setting === 'METRICS_PORT' ? ', with the three that follow it,' : '';
      const why = `names${metrics} port ${port}, and so does ${other.setting}="${other.configured}"`;
      throw new ConfigError(setting, String(configured), why);
    }
    first.set(port, one);
  }
}

/** Returns the error of the first port that is not free; null when all are free. */
export async function problemOfPorts(places: readonly ListenPlace[]): Promise<Error | null> {
  for (const one of places) {
    const problem = await assertFree(one).then(
      () => null,
      (error: Error) => error,
    );
    if (problem !== null) return problem;
  }
  return null;
}

/**
 * Throws an error that names every setting whose port is not free, each on a line, so that an operator finds all of
 * them at once.
 */
async function assertAllFree(places: Place[]): Promise<void> {
  const found: Error[] = [];
  for (const one of places) {
    const problem = await problemOfPorts([one]);
    if (problem !== null && !(problem instanceof ConfigError)) throw problem;
    if (problem !== null && !found.some((other) => isOfOneSetting(other, problem))) found.push(problem);
  }
  const [first] = found;
  if (first === undefined) return;
  first.message = found.map(({ message }) => message).join('\n');
  throw first;
}

const isOfOneSetting = (one: Error, other: ConfigError): boolean =>
  one instanceof ConfigError && one.setting === other.setting;

function assertFree(place: ListenPlace): Promise<void> {
  const { host, port } = place;
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => reject(listenError(error, place)));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve()));
  });
}
