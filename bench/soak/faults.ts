import { setTimeout as delay } from 'node:timers/promises';
import type { LocalDeployment } from '../../test/deploy/local-deployment.ts';
import type { Cable, Hosts } from './hosts.ts';
import { APIS, INGEST, type Parts, WORKERS } from './parts.ts';
import type { Random } from './random.ts';

/** Part of the deployment; concurrent faults never affect the same part. */
export type Touched = 'ingest' | 'workers' | 'api' | 'kafka' | 'clickhouse' | 'postgres';

/** A kind of fault. */
export type Fault = {
  name: string;
  touches: readonly Touched[];
  /** Relative frequency. */
  weight: number;
  /** Minimum and maximum downtime, seconds. */
  away: [number, number];
  /** Causes the fault. @returns how to recover, and the affected part */
  strike(): Promise<{ struck: string; mend: () => Promise<void> }>;
};

/** Time after which a rolling restart continues, even if a part is unhealthy because another is down. */
const ROLL_PATIENCE_MS = 30_000;

/** All kinds of faults; those of hosts only with `--hosts`. */
export function createFaults(parts: Parts, random: Random): Fault[] {
  const { deployment, kafka, hosts } = parts;

  const kill = (services: string[]) => async () => {
    await Promise.all(services.map((one) => deployment.kill(one)));
    return { struck: services.join(', '), mend: async () => deployment.begin(services) };
  };

  function killOne(touches: Touched, services: string[], weight: number): Fault {
    return {
      name: `kill -9 of one ${touches} process`,
      touches: [touches],
      weight,
      away: [0, 8],
      strike: () => kill([random.pick(services)])(),
    };
  }

  function roll(touches: Touched, services: string[]): Fault {
    return {
      name: `rolling restart of ${touches}`,
      touches: [touches],
      weight: 2,
      away: [0, 0],
      async strike() {
        for (const one of services) {
          await deployment.stop([one]);
          deployment.begin([one]);
          const late = Date.now() + ROLL_PATIENCE_MS;
          while (Date.now() < late && !(await deployment.isHealthy(one))) await delay(200);
        }
        return { struck: services.join(', '), mend: async () => undefined };
      },
    };
  }

  const brokers = (struck: typeof kafka.nodes) => async () => {
    await Promise.all(struck.map((node) => node.kill()));
    const mend = async () => {
      await Promise.all(struck.map((node) => node.start()));
    };
    return { struck: struck.map(({ address }) => address).join(', '), mend };
  };

  const store = (name: 'postgres' | 'clickhouse') => async () => {
    await parts[name].kill();
    return { struck: name, mend: () => parts[name].start() };
  };

  const ofHosts = hosts ? hostFaults(hosts, deployment, random) : [];
  return [
    ...ofHosts,
    killOne('ingest', INGEST, 4),
    killOne('workers', WORKERS, 4),
    killOne('api', APIS, 2),
    { name: 'kill -9 of all workers', touches: ['workers'], weight: 2, away: [0, 8], strike: kill(WORKERS) },
    {
      name: 'one workers process hangs',
      touches: ['workers'],
      weight: 2,
      away: [2, 10],
      async strike() {
        const struck = random.pick(WORKERS);
        const pid = deployment.pid(struck);
        if (pid !== null) process.kill(pid, 'SIGSTOP');
        const mend = async () => {
          if (pid !== null && deployment.pid(struck) === pid) process.kill(pid, 'SIGCONT');
        };
        return { struck, mend };
      },
    },
    roll('ingest', INGEST),
    roll('workers', WORKERS),
    roll('api', APIS),
    {
      name: 'kill -9 of a broker',
      touches: ['kafka'],
      weight: 4,
      away: [1, 15],
      strike: () => brokers([random.pick(kafka.nodes)])(),
    },
    {
      name: 'kill -9 of all brokers',
      touches: ['kafka'],
      weight: 2,
      away: [5, 60],
      strike: brokers(kafka.nodes),
    },
    {
      name: 'kill -9 of ClickHouse',
      touches: ['clickhouse'],
      weight: 3,
      away: [1, 30],
      strike: store('clickhouse'),
    },
    {
      name: 'kill -9 of PostgreSQL',
      touches: ['postgres'],
      weight: 3,
      away: [1, 30],
      strike: store('postgres'),
    },
  ];
}

/** Faults of a whole host, with all its processes. */
function hostFaults(hosts: Hosts, deployment: LocalDeployment, random: Random): Fault[] {
  const ofHost = (
    name: string,
    away: [number, number],
    strike: (host: string) => Promise<() => void>,
  ): Fault => ({
    name,
    touches: ['ingest', 'workers', 'api'],
    // More frequent than faults of parts, because a run is short.
    weight: 16,
    away,
    async strike() {
      const host = random.pick(hosts.names);
      const mend = await strike(host);
      return { struck: host, mend: async () => mend() };
    },
  });
  const cut = (cables: readonly Cable[]) => async (host: string) => {
    hosts.cut(host, cables);
    return () => hosts.mend(host);
  };
  return [
    ofHost('a host loses Kafka and the databases', [2, 40], cut(['back'])),
    ofHost('a host loses both networks', [2, 40], cut(['front', 'back'])),
    ofHost('a host dies', [5, 30], async (host) => {
      hosts.cut(host, ['front', 'back']);
      const services = hosts.servicesOn(host);
      await Promise.all(services.map((one) => deployment.kill(one)));
      return () => {
        hosts.mend(host);
        deployment.begin(services);
      };
    }),
  ];
}

/** Chooses a fault by weight among those that do not affect the parts of `besides`. */
export function chooseFault(faults: Fault[], random: Random, besides: Fault | null): Fault {
  const open = faults.filter(({ touches }) => !touches.some((one) => besides?.touches.includes(one)));
  return random.pick(open.flatMap((fault) => Array.from({ length: fault.weight }, () => fault)));
}
