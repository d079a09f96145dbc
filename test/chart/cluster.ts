import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../deploy/compose-file.ts';
import { imageEnvironment } from '../deploy/dockerfile-stages.ts';
import { until } from '../support/until.ts';
import { type ContainerState, type RunningContainer, runContainer, startProgram } from './kubelet.ts';
import { type Neighbors, rulesetOf, type Served, selects } from './network-policies.ts';
import type { DualAddress, PodNamespace, PodNetwork } from './pod-network.ts';
import type { Container, PodSpec, Resource, Volume } from './rendering.ts';

/** Longest start of all pods on a busy machine. */
const READY_MS = 180_000;
const LOG_LENGTH = 400_000;
const OWN_NODE = join(ROOT, 'node_modules/node/bin/node');

export type Pod = {
  name: string;
  labels: Record<string, string>;
  address: DualAddress;
  ports: Container['ports'];
  state(): ContainerState;
  /** Runs a command in its container, as `kubectl exec`. */
  exec(command: string[]): Promise<{ status: number | null; output: string }>;
  /** Deletes the pod as Kubernetes does. @returns the exit status of its process */
  delete(): Promise<number | null>;
  kill(): Promise<void>;
};

/** The pods, Services, and NetworkPolicies of rendered resources on this machine, and names of other servers. */
export type Cluster = {
  /** Makes a server of this machine reachable from pods under a name. */
  name(name: string, port: number, target: { host: string; port: number }): Promise<void>;
  /** Changes a Secret; pods see it in their volumes. */
  setSecret(name: string, data: Record<string, string>): void;
  /** Runs a Job to its end. @throws Error with its output when it fails */
  runJob(job: Resource): Promise<string>;
  /** Makes the Services, then starts the pods of all StatefulSets and Deployments. */
  apply(resources: Resource[]): Promise<void>;
  /** Starts a pod of a StatefulSet again, with its volume. */
  restart(name: string): void;
  pods(component?: string): Pod[];
  pod(name: string): Pod;
  /** Waits until each pod is ready. */
  untilReady(): Promise<void>;
  /** Address of a Service. */
  service(name: string): DualAddress;
  log(): string;
  close(): Promise<void>;
};

/** @param directory an empty one, for volumes */
export function createCluster(directory: string, network: PodNetwork): Cluster {
  const hosts = new Map<string, DualAddress>();
  const secrets = new Map<string, Record<string, string>>();
  /** Writes the Secrets of each volume of a pod again. */
  const followers: (() => void)[] = [];
  const pods = new Map<string, Pod>();
  const namespaces = new Map<string, PodNamespace>();
  const services: Served[] = [];
  const starts = new Map<string, () => void>();
  let resources: Resource[] = [];
  let log = '';

  const secret = (name: string) => {
    const data = secrets.get(name);
    if (!data) throw new Error(`there is no Secret ${name}`);
    return data;
  };

  /** Makes the directory of a volume. @returns its path */
  function makeVolume(volume: Volume, home: string, fsGroup: number): string {
    const path = join(home, volume.name);
    if (existsSync(path)) return path;
    mkdirSync(path, { recursive: true });
    const from = volume.secret
      ? [{ name: volume.secret.secretName, items: volume.secret.items }]
      : volume.projected?.sources.map((source) => source.secret);
    if (volume.configMap) {
      const map = resources.find(
        ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === volume.configMap?.name,
      );
      for (const [key, text] of Object.entries(map?.data ?? {})) writeFileSync(join(path, key), text);
    } else if (from) {
      const mode = volume.secret?.defaultMode ?? volume.projected?.defaultMode ?? 0o644;
      const write = () => {
        const files = from.flatMap(({ name, items }) => {
          const data = secret(name);
          const wanted = items ?? Object.keys(data).map((key) => ({ key, path: key }));
          return wanted.map(({ key, path }): [string, string] => {
            if (data[key] === undefined) throw new Error(`references non-existent secret key: ${key}`);
            return [path, data[key]];
          });
        });
        writeAtOnce(path, files, mode, fsGroup);
      };
      write();
      followers.push(write);
    } else {
      // A claim, or emptyDir.
      chownSync(path, 0, fsGroup);
      chmodSync(path, 0o2777);
    }
    return path;
  }

  function writeHosts(path: string): void {
    const lines = [...hosts].flatMap(([name, { ipv4, ipv6 }]) => [`${ipv4} ${name}`, `${ipv6} ${name}`]);
    writeFileSync(path, ['127.0.0.1 localhost', '::1 localhost', ...lines, ''].join('\n'));
  }

  /** Enforces the NetworkPolicies in each pod, as they are after a pod has come. */
  function enforcePolicies(): void {
    for (const pod of pods.values()) namespaces.get(pod.name)?.filter(rulesetOf(pod, neighbors()));
  }
  const neighbors = (): Neighbors => ({
    pods: [...pods.values()],
    services,
    policies: resources.filter(({ kind }) => kind === 'NetworkPolicy'),
    node: network.host,
  });

  /** @param claims volumes that outlive the pod */
  function startPod(
    name: string,
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec },
    claims: string[],
    runsOnce = false,
  ): { pod: Pod; running: RunningContainer } {
    const { spec } = template;
    const [container] = spec.containers;
    if (!container) throw new Error(`${name} has no container`);
    const { runAsUser = 0, runAsGroup = 0, fsGroup = 0 } = spec.securityContext ?? {};
    const home = join(directory, 'pods', `${name}-${Math.random().toString(36).slice(2)}`);
    const kept = join(directory, 'claims', name);
    const volumes = new Map(
      [...(spec.volumes ?? []), ...claims.map((claim) => ({ name: claim }))].map((volume) => [
        volume.name,
        makeVolume(volume, claims.includes(volume.name) ? kept : join(home, 'volumes'), fsGroup),
      ]),
    );
    const mounts = (container.volumeMounts ?? []).map((mount) => {
      const source = volumes.get(mount.name);
      if (!source) throw new Error(`${name} has no volume ${mount.name}`);
      return `${source} ${mount.mountPath} ${mount.readOnly ? 'ro' : 'rw'}\n`;
    });
    const root = join(home, 'root');
    mkdirSync(root, { recursive: true });
    writeFileSync(join(home, 'mounts'), mounts.join(''));
    writeHosts(join(home, 'hosts'));

    const namespace = network.join();
    const { labels } = template.metadata;
    namespace.filter(rulesetOf({ labels, address: namespace, ports: container.ports }, neighbors()));
    const environment = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      ...imageEnvironment(),
      ...Object.fromEntries(
        (container.env ?? []).map((variable): [string, string] => {
          const { value, valueFrom } = variable;
          if (valueFrom?.fieldRef?.fieldPath === 'metadata.name') return [variable.name, name];
          if (valueFrom) throw new Error(`${name}: the value of ${variable.name} is not known here`);
          return [variable.name, value ?? ''];
        }),
      ),
    };
    const assignments = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
    const isReadOnly = container.securityContext?.readOnlyRootFilesystem === true;
    const access = isReadOnly ? 'ro' : 'rw';
    const ids = [String(runAsUser), String(runAsGroup), String(fsGroup)];
    const node = existsSync(OWN_NODE) ? OWN_NODE : process.execPath;
    const files = [root, ROOT, node, join(home, 'hosts'), join(home, 'mounts')];
    let pid = 0;
    const start = () => {
      const inside = ['unshare', '--mount', 'sh', join(ROOT, 'test/chart/pod-root.sh'), ...files];
      // The image's entry point passes an argument that is not a command to Node.js.
      const command = ['env', '-i', ...assignments, 'node', ...(container.args ?? [])];
      const child = startProgram(
        ['nsenter', `--net=/proc/${namespace.pid}/ns/net`, ...inside, access, ...ids, ...command],
        append,
      );
      pid = child.pid ?? 0;
      return child;
    };
    let printed = '';
    const append = (text: string) => {
      printed = (printed + text).slice(-LOG_LENGTH);
      log = (log + text.replaceAll(/^(?=.)/gm, `${name}: `)).slice(-LOG_LENGTH);
    };
    const exec = async (command: string[]) => {
      let output = '';
      const user = ['--setuid', String(runAsUser), '--setgid', String(runAsGroup)];
      const child = startProgram(
        [
          ...['nsenter', '--target', String(pid), '--mount', '--net', '--root', '--wd', ...user],
          ...['env', '-i', ...assignments, ...command],
        ],
        (text) => {
          output += text;
        },
      );
      const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
      return { status, output };
    };
    const running = runContainer({
      container,
      start,
      exec,
      address: namespace.ipv4,
      graceSeconds: spec.terminationGracePeriodSeconds,
      runsOnce,
    });
    const remove = async <T>(end: () => Promise<T>) => {
      const ended = await end();
      namespace.close();
      namespaces.delete(name);
      pods.delete(name);
      return ended;
    };
    const pod: Pod = {
      name,
      labels,
      address: namespace,
      ports: container.ports,
      state: running.state,
      exec,
      delete: () => remove(running.stop),
      kill: () => remove(running.kill),
    };
    pods.set(name, pod);
    namespaces.set(name, namespace);
    enforcePolicies();
    return { pod, running: { ...running, state: () => ({ ...running.state(), reason: printed }) } };
  }

  async function makeService({ metadata, spec }: Resource): Promise<void> {
    let turn = 0;
    const address = await network.serve(
      spec.ports.map(({ port, targetPort }) => ({
        port,
        target(family) {
          const ready = [...pods.values()].filter(
            (pod) =>
              selects(spec.selector, pod.labels) && (spec.publishNotReadyAddresses || pod.state().isReady),
          );
          const pod = ready[turn++ % ready.length];
          const number = pod?.ports?.find(({ name }) => name === targetPort)?.containerPort;
          return pod && number ? { host: pod.address[family], port: number } : null;
        },
      })),
    );
    hosts.set(metadata.name, address);
    services.push({ address, spec });
  }

  const pod = (name: string) => {
    const found = pods.get(name);
    if (!found) throw new Error(`there is no pod ${name}`);
    return found;
  };

  return {
    log: () => log,
    pod,
    pods: (component) =>
      [...pods.values()].filter(
        ({ labels }) => component === undefined || labels['app.kubernetes.io/component'] === component,
      ),
    async name(name, port, target) {
      hosts.set(name, await network.serve([{ port, target: () => target }]));
    },
    setSecret(name, data) {
      secrets.set(name, data);
      for (const follow of followers) follow();
    },
    async runJob({ metadata, spec }) {
      const { running, pod } = startPod(metadata.name, spec.template, [], true);
      const status = await running.ended;
      await pod.kill();
      const printed = running.state().reason;
      if (status !== 0) throw new Error(`${metadata.name} ended with ${status}:\n${printed}`);
      return printed;
    },
    async apply(given) {
      resources = given;
      for (const resource of resources.filter(({ kind }) => kind === 'Service')) await makeService(resource);
      for (const { kind, metadata, spec } of resources) {
        if (kind !== 'StatefulSet' && kind !== 'Deployment') continue;
        const claims = (spec.volumeClaimTemplates ?? []).map((claim) => claim.metadata.name);
        for (let index = 0; index < (spec.replicas ?? 1); index++) {
          const name = `${metadata.name}-${index}`;
          const start = () => void startPod(name, spec.template, claims);
          starts.set(name, start);
          start();
        }
      }
    },
    restart: (name) => starts.get(name)?.(),
    async untilReady() {
      const read = () =>
        [...pods.values()].flatMap(({ name, state }) =>
          state().isReady ? [] : [`${name} (${state().restarts} restarts): ${state().reason}`],
        );
      const areNone = (waiting: string[]) => waiting.length === 0;
      await until('every pod is ready', read, areNone, { timeoutMs: READY_MS, intervalMs: 200 }).catch(
        (cause) => {
          throw new Error(`not every pod became ready: ${cause.message}\n${log}`, { cause });
        },
      );
    },
    service(name) {
      const address = hosts.get(name);
      if (!address) throw new Error(`there is no Service ${name}`);
      return address;
    },
    async close() {
      await Promise.all([...pods.values()].map((one) => one.kill()));
    },
  };
}

/** Replaces the files of a volume as a kubelet does: a link to a directory is replaced, so that all change at once. */
function writeAtOnce(path: string, files: [string, string][], mode: number, group: number): void {
  const version = `..${process.hrtime.bigint()}`;
  mkdirSync(join(path, version));
  for (const [name, text] of files) {
    const file = join(path, version, name);
    writeFileSync(file, text);
    chownSync(file, 0, group);
    chmodSync(file, mode);
    if (!existsSync(join(path, name))) symlinkSync(`..data/${name}`, join(path, name));
  }
  symlinkSync(version, join(path, '..data_tmp'));
  renameSync(join(path, '..data_tmp'), join(path, '..data'));
}
