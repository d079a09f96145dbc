import { ConfigError, type EnvironmentName } from '../settings/config.ts';

/** The address of a server, and the setting that it comes from. */
export type ListenPlace = {
  host: string;
  port: number;
  setting: EnvironmentName;
  /** The setting's value, where the port is derived from it. */
  configured?: number;
};

/** Returns a failed listen as an error of the setting behind it; other errors are returned as they are. */
export function listenError(
  error: unknown,
  { host, port, setting, configured = port }: ListenPlace,
): unknown {
  const value = String(configured);
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new ConfigError(setting, value, `port ${port} on ${host} is in use already`);
    case 'EACCES':
      return new ConfigError(setting, value, `this user may not listen on port ${port}`);
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EAI_AGAIN':
    case 'ENOTFOUND':
      return new ConfigError(
        setting === 'METRICS_PORT' ? 'METRICS_HOST' : 'HOST',
        host,
        'must be an address of this machine',
      );
    default:
      return error;
  }
}
