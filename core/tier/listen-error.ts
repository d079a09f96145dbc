import { ConfigError, type EnvironmentName } from '../settings/config.ts';

/** Where a server was to listen, and which setting says so. */
export type ListenPlace = {
  host: string;
  port: number;
  setting: EnvironmentName;
  /** The setting's value, where the port is one that follows it. */
  configured?: number;
};

/** What a failed listen says about the settings, by name; the error itself where it is not about them. */
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
      return new ConfigError('HOST', host, 'is no address of this machine');
    default:
      return error;
  }
}
