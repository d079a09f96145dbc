import { connect } from 'node:net';
import {
  GenericContainer,
  getContainerRuntimeClient,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
} from 'testcontainers';
import { freePort } from '../../cli/embedded/free-port.ts';
import { imageOf } from './images.ts';
import type { TestBroker, TestKafka } from './kafka.ts';
import { newClusterId, serverProperties } from './kafka-properties.ts';
import { type KafkaSecurity, scramUser } from './kafka-security.ts';
import { until } from './until.ts';

const PORTS = { clients: 9092, brokers: 9093, controller: 9094 };
const PROPERTIES = '/tmp/server.properties';
const KEYSTORE = '/tmp/broker.p12';
const LOG_LENGTH = 200_000;
const READY_MS = 120_000;

/**
 * Starts the brokers of `startKafka`, with the same settings, as containers. Each has a fixed port of this machine for
 * its lifetime, so that clients find it after a kill: an engine would choose another port at each start.
 */
export async function startKafkaContainers(count: 1 | 3, security?: KafkaSecurity): Promise<TestKafka> {
  const clusterId = newClusterId();
  const network = await new Network().start();
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  let log = '';
  const nodes = await Promise.all(
    ids.map((id) =>
      startBroker(id, { ids, network, clusterId, security }, (text) => {
        log = (log + text).slice(-LOG_LENGTH);
      }),
    ),
  );
  return {
    brokers: nodes.map(({ broker }) => broker.address).join(','),
    nodes: nodes.map(({ broker }) => broker),
    directory: '',
    log: () => log,
    async close() {
      await Promise.all(nodes.map(({ container }) => container.stop()));
      await network.stop();
    },
  };
}

/**
 * Returns the host on which the engine publishes ports: not loopback if the engine is on another host, or this is a
 * container.
 */
export async function engineHost(): Promise<string> {
  return (await getContainerRuntimeClient()).info.containerRuntime.host;
}

type Cluster = {
  ids: readonly number[];
  network: StartedNetwork;
  clusterId: string;
  security: KafkaSecurity | undefined;
};

async function startBroker(
  id: number,
  { ids, network, clusterId, security }: Cluster,
  onOutput: (text: string) => void,
): Promise<{ container: StartedTestContainer; broker: TestBroker }> {
  const runtime = await getContainerRuntimeClient();
  const host = await engineHost();
  const port = await freePort();
  const properties = serverProperties(
    {
      id,
      clients: `0.0.0.0:${PORTS.clients}`,
      advertisedToClients: `${host}:${port}`,
      brokers: `0.0.0.0:${PORTS.brokers}`,
      advertisedToBrokers: `${nameOf(id)}:${PORTS.brokers}`,
      controller: `0.0.0.0:${PORTS.controller}`,
    },
    {
      voters: ids.map((one) => `${one}@${nameOf(one)}:${PORTS.controller}`).join(','),
      count: ids.length,
      dataDir: '/tmp/kafka-data',
      security: security && { ...security, keystore: KEYSTORE },
    },
  );
  const users = (security ? scramUser(security) : []).map((word) => `'${word}'`).join(' ');
  const image = new GenericContainer(imageOf('KAFKA_IMAGE'))
    .withNetwork(network)
    .withNetworkAliases(nameOf(id))
    .withExposedPorts({ container: PORTS.clients, host: port })
    .withCopyContentToContainer([{ content: properties, target: PROPERTIES }])
    .withEnvironment({ KAFKA_HEAP_OPTS: '-Xmx384m -Xms128m' })
    .withEntrypoint(['/bin/bash', '-c'])
    // Replaces the image's entry point, which derives its settings from the environment, so that they equal those of
    // brokers that are processes.
    .withCommand([
      `/opt/kafka/bin/kafka-storage.sh format --ignore-formatted -t ${clusterId} -c ${PROPERTIES} ${users} && ` +
        `exec /opt/kafka/bin/kafka-server-start.sh ${PROPERTIES}`,
    ])
    .withLogConsumer((stream) => stream.on('data', (chunk) => onOutput(String(chunk))))
    .withStartupTimeout(READY_MS);
  if (security)
    image.withCopyFilesToContainer([{ source: security.keystore, target: KEYSTORE, mode: 0o644 }]);
  const container = await image.start();
  // Not `container.stop()`, which stops gracefully, has no effect the second time, and removes the data.
  const process = runtime.container.getById(container.getId());
  let running = true;
  const broker: TestBroker = {
    address: `${host}:${port}`,
    running: () => running,
    async kill() {
      if (!running) return;
      running = false;
      await process.kill({ signal: 'SIGKILL' });
      await process.wait();
    },
    async start() {
      await process.start();
      running = true;
      await untilItResponds(host, port);
    },
  };
  return { container, broker };
}

function nameOf(id: number): string {
  return `kafka-${id}`;
}

async function untilItResponds(host: string, port: number): Promise<void> {
  const responds = () => isResponding(host, port);
  await until(`a broker at ${host}:${port}`, responds, Boolean, { timeoutMs: READY_MS, intervalMs: 100 });
}

function isResponding(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
