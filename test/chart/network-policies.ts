import { execFileSync } from 'node:child_process';
import type { DualAddress } from './pod-network.ts';
import type { Resource } from './rendering.ts';

type Labels = Record<string, string>;
type Port = { port: number | string; protocol?: string };
type Peer = {
  podSelector?: { matchLabels?: Labels };
  namespaceSelector?: object;
  ipBlock?: { cidr: string; except?: string[] };
};
type Policy = {
  podSelector: { matchLabels: Labels };
  ingress?: { ports?: Port[]; from?: Peer[] }[] | null;
  egress?: { ports?: Port[]; to?: Peer[] }[] | null;
};

/** A pod as policies see it. */
export type Endpoint = {
  labels: Labels;
  address: DualAddress;
  ports?: { name: string; containerPort: number }[];
};
/** A Service: its address, and what it leads to. */
export type Served = { address: DualAddress; spec: Resource['spec'] };

/** A cluster's pods, Services, and policies, and the address of its one node, which may connect to each pod. */
export type Neighbors = { pods: Endpoint[]; services: Served[]; policies: Resource[]; node: DualAddress };

/** Returns whether this machine can enforce policies. */
export function hasNftables(): boolean {
  try {
    execFileSync('nft', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export const selects = (selector: Labels | undefined, labels: Labels): boolean =>
  Object.entries(selector ?? {}).every(([label, value]) => labels[label] === value);

const familyOf = (address: string) => (address.includes(':') ? 'ip6' : 'ip');

/** Returns the ruleset of nftables that the NetworkPolicies demand in a pod's namespace; empty without any for it. */
export function rulesetOf(pod: Endpoint, { pods, services, policies, node }: Neighbors): string {
  const own = policies
    .map(({ spec }) => spec as unknown as Policy)
    .filter(({ podSelector }) => selects(podSelector.matchLabels, pod.labels));
  if (own.length === 0) return 'flush ruleset\n';

  /** Matches of the ports on a pod, where a port may be a name. */
  const portsOf = (ports: Port[] | undefined, at: Endpoint): string[] =>
    ports === undefined
      ? ['']
      : ports.flatMap(({ port, protocol = 'TCP' }) => {
          const number = typeof port === 'number' ? port : numberOf(at, port);
          return number === undefined ? [] : [` ${protocol.toLowerCase()} dport ${number}`];
        });

  function peerMatches(direction: 'saddr' | 'daddr', peer: Peer, ports: Port[] | undefined): string[] {
    if (peer.ipBlock) {
      const { cidr, except = [] } = peer.ipBlock;
      const family = familyOf(cidr);
      const outside = except.length > 0 ? ` ${family} ${direction} != { ${except.join(', ')} }` : '';
      return portsOf(ports, pod).map((port) => `${family} ${direction} ${cidr}${outside}${port}`);
    }
    // There is no other namespace here.
    if (peer.namespaceSelector) return [];
    const matched = pods.filter(({ labels }) => selects(peer.podSelector?.matchLabels, labels));
    const direct = matched.flatMap((to) =>
      portsOf(ports, direction === 'daddr' ? to : pod).flatMap((port) => of(to.address, direction, port)),
    );
    if (direction === 'saddr') return direct;
    // A cluster translates the address of a Service first, so that policies see the pod's.
    const through = services.flatMap(({ address, spec }) =>
      spec.ports.flatMap(({ port, targetPort }) => {
        const isAllowed = matched.some(
          (to) =>
            selects(spec.selector, to.labels) &&
            portsOf(ports, to).some((one) =>
              ['', ` tcp dport ${numberOf(to, String(targetPort))}`].includes(one),
            ),
        );
        return isAllowed ? of(address, direction, ` tcp dport ${port}`) : [];
      }),
    );
    return [...direct, ...through];
  }

  const chain = (direction: 'saddr' | 'daddr', rules: { ports?: Port[]; peers?: Peer[] }[]) =>
    rules.flatMap(({ ports, peers }) =>
      peers === undefined || peers.length === 0
        ? portsOf(ports, pod).map((port) => port.trim())
        : peers.flatMap((peer) => peerMatches(direction, peer, ports)),
    );
  const egress = own.flatMap(({ egress }) => (egress ?? []).map(({ ports, to }) => ({ ports, peers: to })));
  const ingress = own.flatMap(({ ingress }) =>
    (ingress ?? []).map(({ ports, from }) => ({ ports, peers: from })),
  );
  const always = ['ct state established,related', 'meta l4proto ipv6-icmp'];
  const accept = (matches: string[]) => [...new Set(matches)].map((match) => `    ${match} accept`);
  return [
    'flush ruleset',
    'table inet policies {',
    '  chain egress {',
    '    type filter hook output priority 0; policy drop;',
    ...accept(['oifname lo', ...always, ...chain('daddr', egress)]),
    '  }',
    '  chain ingress {',
    '    type filter hook input priority 0; policy drop;',
    ...accept(['iifname lo', ...always, ...of(node, 'saddr', ''), ...chain('saddr', ingress)]),
    '  }',
    '}',
    '',
  ].join('\n');
}

function numberOf({ ports }: Endpoint, name: string): number | undefined {
  return ports?.find((port) => port.name === name)?.containerPort;
}

const of = ({ ipv4, ipv6 }: DualAddress, direction: 'saddr' | 'daddr', port: string) => [
  `ip ${direction} ${ipv4}${port}`,
  `ip6 ${direction} ${ipv6}${port}`,
];
