import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { bound } from '../support/bound-process.ts';

/** An address in each family. */
export type DualAddress = { ipv4: string; ipv6: string };

export type Family = keyof DualAddress;

/** @property target for a caller of that family; null refuses it */
export type ServedPort = { port: number; target(family: Family): { host: string; port: number } | null };

/** A network namespace of a pod, joined to the network of its cluster. */
export type PodNamespace = DualAddress & {
  /** Process that holds it: `/proc/<pid>/ns/net`. */
  pid: number;
  /** Loads a ruleset of nftables. */
  filter(ruleset: string): void;
  close(): void;
};

/** A bridge of this machine with an IPv4 and an IPv6 network, on which pods and Services have addresses. */
export type PodNetwork = {
  /** This machine's address, from which its kubelet probes. */
  host: DualAddress;
  /** Both networks, as in `TRUST_PROXY`. */
  blocks: string;
  /** Makes a namespace for a pod. */
  join(): PodNamespace;
  /** Listens on an address of its own, and connects each caller with the target of its port. */
  serve(ports: ServedPort[]): Promise<DualAddress>;
  close(): Promise<void>;
};

/** Returns whether this process may make networks: root on Linux, outside of a container that forbids it. */
export function canMakeNetworks(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('unshare', ['--net', '--mount', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });

/** Makes a network. It is removed when this process ends, however it ends. */
export function createPodNetwork(): PodNetwork {
  const id = randomInt(0x1000, 0xffff).toString(16);
  const bridge = `hop${id}`;
  const ipv4 = `10.${randomInt(100, 255)}.${randomInt(0, 255)}`;
  const ipv6 = `fd00:${id}:${randomInt(1, 0xffff).toString(16)}:`;
  const addressOf = (number: number): DualAddress => ({
    ipv4: `${ipv4}.${number}`,
    ipv6: `${ipv6}:${number.toString(16)}`,
  });
  const give = ({ ipv4, ipv6 }: DualAddress, device: string) => {
    ip('address', 'add', `${ipv4}/24`, 'dev', device);
    ip('-6', 'address', 'add', `${ipv6}/64`, 'dev', device, 'nodad');
  };
  const host = addressOf(1);
  ip('link', 'add', bridge, 'type', 'bridge');
  const guard = spawn('sh', ['-c', 'read -r released; ip link delete "$0"', bridge], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  give(host, bridge);
  ip('link', 'set', bridge, 'up');

  let last = 1;
  const holders = new Set<ChildProcess>();
  const servers: Server[] = [];
  const sockets = new Set<Socket>();

  return {
    host,
    blocks: `${ipv4}.0/24,${ipv6}:/64`,
    join() {
      const address = addressOf(++last);
      const { file, args } = bound('unshare', ['--net', 'sleep', 'infinity']);
      const holder = spawn(file, args, { stdio: 'ignore' });
      const pid = holder.pid ?? 0;
      holders.add(holder);
      const inside = (...words: string[]) =>
        execFileSync('nsenter', [`--net=/proc/${pid}/ns/net`, 'ip', ...words], { stdio: 'pipe' });
      untilOwnNamespace(pid);
      const device = `hop${id}v${last}`;
      ip('link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid));
      ip('link', 'set', device, 'master', bridge, 'up');
      inside('link', 'set', 'lo', 'up');
      inside('address', 'add', `${address.ipv4}/24`, 'dev', 'eth0');
      inside('-6', 'address', 'add', `${address.ipv6}/64`, 'dev', 'eth0', 'nodad');
      inside('link', 'set', 'eth0', 'up');
      return {
        ...address,
        pid,
        filter(ruleset) {
          const words = [`--net=/proc/${pid}/ns/net`, 'nft', '--file', '-'];
          execFileSync('nsenter', words, { input: ruleset, stdio: 'pipe' });
        },
        close() {
          holders.delete(holder);
          holder.kill('SIGKILL');
        },
      };
    },
    async serve(ports) {
      const address = addressOf(++last);
      give(address, bridge);
      for (const { port, target } of ports) {
        for (const family of ['ipv4', 'ipv6'] as const) {
          const server = createServer((caller) => {
            const to = target(family);
            if (to === null) {
              caller.destroy();
              return;
            }
            const called = connect({ ...to, noDelay: true });
            for (const socket of [caller, called]) {
              sockets.add(socket);
              socket.on('error', () => {});
              socket.on('close', () => {
                sockets.delete(socket);
                caller.destroy();
                called.destroy();
              });
            }
            caller.pipe(called).pipe(caller);
          });
          await new Promise<void>((resolve, reject) => {
            server.once('error', reject);
            server.listen(port, address[family], resolve);
          });
          servers.push(server);
        }
      }
      return address;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(
        servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
      );
      for (const holder of holders) holder.kill('SIGKILL');
      guard.stdin.end();
    },
  };
}

/** Waits until the process has left this namespace: a device given to it earlier would stay here. */
function untilOwnNamespace(pid: number): void {
  const script =
    'until [ "$(readlink "/proc/$0/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done';
  execFileSync('sh', ['-c', script, String(pid)], { timeout: 10_000 });
}
