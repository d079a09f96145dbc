import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isReady, readinessUrl, tierOf } from '../../cli/health.ts';
import { bound } from '../support/bound-process.ts';
import { COMPILED } from '../support/program.ts';
import { until } from '../support/until.ts';
import { ROOT, readComposeFile, type Service } from './compose-file.ts';
import { imageEnvironment } from './dockerfile-stages.ts';

/** Addresses of the compose file's servers on this machine. */
export type Servers = {
  databaseUrl: string;
  databaseOwnerUrl: string;
  clickhouseUrl: string;
  clickhouseDatabase: string;
  /** `KAFKA_BROKERS` */
  brokers: string;
  /** `KAFKA_REPLICATION`: 1 with a single broker. */
  replication: 1 | 3;
  /** Settings that the file leaves at their defaults, of a service with this address. */
  settings?: (address: string) => Record<string, string>;
  /** Places of services that run on hosts of their own. */
  place?: (service: string) => Placement | null;
  /** Networks of nginx besides loopback. */
  frontNetwork?: string;
};

/** Where a service runs: its address there, and the command that runs a program there. */
export type Placement = { address: string; enter: string[] };

/** The processes of Hoplog as `docker-compose.yml` describes them, without containers. */
export type LocalDeployment = {
  /** Returns the service's address, as its name is inside Compose's network. */
  host(service: string): string;
  /** Runs a one-shot service to its end. @returns its output @throws Error when it fails */
  run(service: string): Promise<string>;
  /** Starts services and waits until the health check of each passes. */
  start(services: string[]): Promise<void>;
  /** Starts services without waiting. */
  begin(services: string[]): void;
  /** Returns whether the service's health check passes now. */
  isHealthy(service: string): Promise<boolean>;
  /** Returns the service's process id; null when it is not running. */
  pid(service: string): number | null;
  /** Services that ended unexpectedly, each with its exit status or signal. */
  endedByThemselves(): [service: string, status: number | string | null][];
  /** Ends services as Compose does; all running ones by default. */
  stop(services?: string[]): Promise<void>;
  /** `kill -9` */
  kill(service: string): Promise<void>;
  /** Returns their recent standard error, for a failed test. */
  log(): string;
};

const HEALTHY_MS = 240_000;
/** `stop_grace_period` of the file. */
const DRAIN_MS = 10_000;
const LOG_LENGTH = 200_000;

/**
 * Commands, environment, health checks and volumes are those of the file. The container network is emulated:
 * every service has a loopback address of its own, so that all keep their ports, and a volume is a directory. Only
 * names of other services and the number of brokers are replaced.
 */
export function createLocalDeployment(directory: string, servers: Servers): LocalDeployment {
  const { services } = readComposeFile();
  const net = `127.${randomInt(1, 255)}.${randomInt(0, 255)}`;
  const names = Object.keys(services);
  const running = new Map<string, ChildProcess>();
  let log = '';

  const host = (name: string) => {
    const placed = servers.place?.(name);
    if (placed) return placed.address;
    const index = names.indexOf(name);
    if (index < 0) throw new Error(`the compose file has no service ${name}`);
    return `${net}.${index + 1}`;
  };

  function named(name: string): Service {
    const service = services[name];
    if (!service) throw new Error(`the compose file has no service ${name}`);
    return service;
  }

  function environmentOf(name: string): Record<string, string> {
    const { environment = {}, volumes = [] } = named(name);
    const volume = volumes.find((one) => one.endsWith(`:${environment.DATA_DIR}`))?.split(':')[0];
    const dataDir = join(directory, volume ?? `${name}-anonymous`);
    mkdirSync(dataDir, { recursive: true });
    const settings = servers.settings?.(host(name)) ?? {};
    return {
      ...withoutFiles(environment),
      ...settings,
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: COMPILED,
      NODE_OPTIONS: `${NODE_OPTIONS} ${settings.NODE_OPTIONS ?? ''}`,
      // An image has no `.env` (`.dockerignore`); this checkout may have one.
      ENV_FILE: '',
      DATA_DIR: dataDir,
      HOST: host(name),
      METRICS_HOST: host(name),
      DATABASE_URL: servers.databaseUrl,
      ...(environment.DATABASE_OWNER_URL && { DATABASE_OWNER_URL: servers.databaseOwnerUrl }),
      CLICKHOUSE_URL: servers.clickhouseUrl,
      CLICKHOUSE_DATABASE: servers.clickhouseDatabase,
      KAFKA_BROKERS: servers.brokers,
      KAFKA_REPLICATION: String(servers.replication),
      // The networks of nginx.
      TRUST_PROXY: ['127.0.0.0/8', servers.frontNetwork ?? []].flat().join(),
    };
  }

  function spawnService(name: string): ChildProcess {
    // The image's entry point passes anything that is not a command to Node.js.
    const { file, args } = bound(process.execPath, named(name).command ?? []);
    const [first = '', ...rest] = [...(servers.place?.(name)?.enter ?? []), file, ...args];
    const child = spawn(first, rest, {
      cwd: ROOT,
      env: environmentOf(name),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += `${name}: ${text}`;
      if (log.length > 2 * LOG_LENGTH) log = log.slice(-LOG_LENGTH);
    });
    return child;
  }

  async function passesCheck(name: string): Promise<boolean> {
    const [tier = ''] = name.split('-');
    const options = { cwd: ROOT, env: environmentOf(name), stdio: 'ignore' } as const;
    return (await exitOf(spawn(process.execPath, ['dist/health.js', tier], options))) === 0;
  }

  /** Checks without a process: one process for each check takes more CPU than the service it checks. */
  async function isHealthy(name: string): Promise<boolean> {
    const tier = tierOf(named(name).command ?? []);
    if (tier === null) throw new Error(`the health check of ${name} is not one of ours`);
    return isReady(readinessUrl(tier, environmentOf(name)));
  }

  function begin(wanted: string[]): void {
    for (const name of wanted) running.set(name, spawnService(name));
  }

  return {
    host,
    begin,
    endedByThemselves: () =>
      [...running]
        .filter(([, child]) => hasEnded(child))
        .map(([name, { exitCode, signalCode }]) => [name, signalCode ?? exitCode]),
    isHealthy,
    pid(name) {
      const child = running.get(name);
      return child && !hasEnded(child) ? (child.pid ?? null) : null;
    },
    log: () => log,
    async run(name) {
      const child = spawnService(name);
      let printed = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
      // Waits for `close`, because the last output may not be read yet at `exit`.
      const [status] = (await once(child, 'close')) as [number | null];
      if (status !== 0) throw new Error(`${name} ended with ${status}:\n${log}`);
      return printed;
    },
    async start(wanted) {
      begin(wanted);
      for (const name of wanted) {
        const isUp = async () => (await isHealthy(name)) && (await passesCheck(name));
        await until(`${name} is healthy`, isUp, Boolean, { timeoutMs: HEALTHY_MS, intervalMs: 200 }).catch(
          (cause) => {
            throw new Error(`${name} did not become healthy:\n${log}`, { cause });
          },
        );
      }
    },
    async stop(services = [...running.keys()]) {
      await Promise.all(
        services.map(async (name) => {
          const child = running.get(name);
          running.delete(name);
          child?.kill('SIGTERM');
          const late = setTimeout(() => child?.kill('SIGKILL'), DRAIN_MS);
          if (child) await exitOf(child);
          clearTimeout(late);
        }),
      );
    },
    async kill(name) {
      const child = running.get(name);
      running.delete(name);
      child?.kill('SIGKILL');
      if (child) await exitOf(child);
    },
  };
}

const { NODE_OPTIONS = '' } = imageEnvironment();

/** Files of secrets are in containers only; the addresses of the databases have their passwords here. */
function withoutFiles(environment: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.endsWith('_FILE')));
}

function exitOf(child: ChildProcess): Promise<number | null> {
  if (hasEnded(child)) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
