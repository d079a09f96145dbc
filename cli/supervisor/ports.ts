import { createServer } from 'node:net';
import { type Config, ConfigError, type EnvironmentName } from '../../core/config.ts';
import { freePort } from '../embedded/free-port.ts';

/** The ports of one start. The supervisor's metrics are on METRICS_PORT, its children's on the following ones. */
export type Ports = {
  api: number;
  ingest: number;
  metrics: { supervisor: number; ingest: number; workers: number; api: number };
};

/**
 * Settles on every port before anything is started: the configured one, or a free one where it is 0.
 *
 * @throws {ConfigError} naming the setting whose port is taken or not allowed
 */
export async function settlePorts(config: Config): Promise<Ports> {
  const { host } = config;
  const settle = async (setting: EnvironmentName, configured: number, offset = 0) => {
    if (configured === 0) return freePort(host);
    await assertFree(setting, configured, configured + offset, host);
    return configured + offset;
  };
  return {
    api: await settle('API_PORT', config.apiPort),
    ingest: await settle('INGEST_PORT', config.ingestPort),
    metrics: {
      supervisor: await settle('METRICS_PORT', config.metricsPort),
      ingest: await settle('METRICS_PORT', config.metricsPort, 1),
      workers: await settle('METRICS_PORT', config.metricsPort, 2),
      api: await settle('METRICS_PORT', config.metricsPort, 3),
    },
  };
}

function assertFree(setting: EnvironmentName, configured: number, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(explain(error, setting, configured, port, host));
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve()));
  });
}

function explain(
  error: NodeJS.ErrnoException,
  setting: EnvironmentName,
  configured: number,
  port: number,
  host: string,
): Error {
  const value = String(configured);
  if (error.code === 'EADDRINUSE') {
    return new ConfigError(setting, value, `port ${port} on ${host} is in use by another process`);
  }
  if (error.code === 'EACCES') {
    return new ConfigError(setting, value, `this user may not listen on port ${port}`);
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new ConfigError('HOST', host, 'is no address of this machine');
  }
  if (port > 65_535) return new ConfigError(setting, value, 'leaves no room for the following ports');
  return error;
}
