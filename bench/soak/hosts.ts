import { execFileSync } from 'node:child_process';
import { connect, createServer, type Server } from 'node:net';
import type { Placement } from '../../test/deploy/local-deployment.ts';

/**
 * Hosts on this machine: network namespaces, each with two virtual cables. The front cable carries visitors; the back
 * one carries traffic to Kafka, PostgreSQL, and ClickHouse, which run on the machine itself. Needs Linux and root.
 */
export type Hosts = {
  names: string[];
  /** Address of the machine on the back network, for the servers there. */
  serverAddress: string;
  /** Networks of the proxies in front of the hosts. */
  frontNetwork: string;
  /** Returns the services of a host. */
  servicesOn(host: string): string[];
  place(service: string): Placement | null;
  /** Pulls cables of a host: packets are lost, connections stay open. */
  cut(host: string, cables: readonly Cable[]): void;
  mend(host: string): void;
  close(): void;
};

export type Cable = 'front' | 'back';
const CABLES: readonly Cable[] = ['front', 'back'];
/** Networks for benchmarks (RFC 2544), which are not routed. */
const NETWORKS = { front: '198.18.251', back: '198.18.252' } as const;
/** Last byte of the machine's own addresses. */
const MACHINE = 254;

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: 'pipe' });
}

/** Names are limited to 15 bytes. */
const bridgeOf = (cable: Cable) => `hoplog-${cable}`;
const plugOf = (index: number, cable: Cable) => `hoplog-${index}-${cable}`;

/**
 * Creates the hosts and connects them.
 *
 * @param services of each host, whose processes have addresses of their own there
 * @throws Error when this user may not create networks, or a former run left some behind
 */
export function makeHosts(services: readonly (readonly string[])[]): Hosts {
  const names = services.map((_, index) => `hoplog-host-${index}`);
  const all = services.flat();
  const addressOf = (service: string) => `${NETWORKS.front}.${all.indexOf(service) + 1}`;

  function close(): void {
    for (const name of names) attempt(() => ip('netns', 'del', name));
    for (const cable of CABLES) attempt(() => ip('link', 'del', bridgeOf(cable)));
  }

  try {
    for (const cable of CABLES) {
      ip('link', 'add', bridgeOf(cable), 'type', 'bridge');
      ip('addr', 'add', `${NETWORKS[cable]}.${MACHINE}/24`, 'dev', bridgeOf(cable));
      ip('link', 'set', bridgeOf(cable), 'up');
    }
    for (const [index, name] of names.entries()) {
      ip('netns', 'add', name);
      ip('-n', name, 'link', 'set', 'lo', 'up');
      for (const cable of CABLES) {
        const plug = plugOf(index, cable);
        ip('link', 'add', plug, 'type', 'veth', 'peer', 'name', cable, 'netns', name);
        ip('link', 'set', plug, 'master', bridgeOf(cable), 'up');
        ip('-n', name, 'link', 'set', cable, 'up');
      }
      ip('-n', name, 'addr', 'add', `${NETWORKS.back}.${index + 1}/24`, 'dev', 'back');
      for (const service of services[index] ?? []) {
        ip('-n', name, 'addr', 'add', `${addressOf(service)}/24`, 'dev', 'front');
      }
    }
  } catch (error) {
    close();
    throw new Error('`--hosts` needs Linux, root, and no other run of it on this machine', { cause: error });
  }

  function set(host: string, cables: readonly Cable[], state: 'up' | 'down'): void {
    for (const cable of cables) ip('link', 'set', plugOf(names.indexOf(host), cable), state);
  }
  return {
    names,
    serverAddress: `${NETWORKS.back}.${MACHINE}`,
    frontNetwork: `${NETWORKS.front}.0/24`,
    servicesOn: (host) => [...(services[names.indexOf(host)] ?? [])],
    place(service) {
      const index = services.findIndex((some) => some.includes(service));
      const name = names[index];
      if (name === undefined) return null;
      return { address: addressOf(service), enter: ['ip', 'netns', 'exec', name] };
    },
    cut: (host, cables) => set(host, cables, 'down'),
    mend: (host) => set(host, CABLES, 'up'),
    close,
  };
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // The host was not created.
  }
}

/**
 * Offers a server of loopback at another address of this machine, with the same port. Embedded databases have no
 * password of their own and listen on loopback only.
 */
export async function offerAt(address: string, port: number): Promise<{ close(): void }> {
  const server: Server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.pipe(to);
      from.once('error', () => to.destroy());
      from.once('close', () => to.destroySoon());
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  return { close: () => void server.close() };
}
