import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../cli/embedded/free-port.ts';
import { type KafkaSecurity, scramUser, securityProperties } from './kafka-security.ts';

const JARS = fileURLToPath(new URL('../kafka/target/dependency/', import.meta.url));
const READY_MS = 60_000;

/** Why tests on a broker are skipped, or false where they can run. */
export const NO_KAFKA = !existsSync(JARS)
  ? 'no broker is installed: mvn -f test/kafka dependency:copy-dependencies'
  : !hasJava() && 'no Java is installed';

function hasJava(): boolean {
  try {
    execFileSync('java', ['-version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export type TestBroker = {
  /** `127.0.0.1:port` */
  address: string;
  /** `kill -9` */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  running(): boolean;
};

export type TestKafka = {
  /** What `KAFKA_BROKERS` takes. */
  brokers: string;
  nodes: TestBroker[];
  /** What the brokers wrote, for a failed test. */
  log(): string;
  close(): Promise<void>;
};

/**
 * Starts a cluster of real Apache Kafka brokers on loopback, each also a controller (KRaft), and waits until every
 * one answers. Topics are not made by themselves.
 *
 * @param count 1, or 3 for a cluster that outlives one of its brokers
 * @param security what clients have to show; left out: nothing
 */
export async function startKafka(count: 1 | 3, security?: KafkaSecurity): Promise<TestKafka> {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-kafka-'));
  const clusterId = newClusterId();
  const nodes = await Promise.all(
    Array.from({ length: count }, async (_, index) => ({
      id: index + 1,
      port: await freePort(),
      controller: await freePort(),
      internal: await freePort(),
    })),
  );
  const voters = nodes.map((node) => `${node.id}@127.0.0.1:${node.controller}`).join(',');
  const propertiesOf = (id: number) => join(directory, String(id), 'server.properties');
  let log = '';
  const started = nodes.map((node) => {
    const home = join(directory, String(node.id));
    mkdirSync(home, { recursive: true });
    const properties = propertiesOf(node.id);
    writeFileSync(properties, serverProperties(node, voters, home, count, security));
    return brokerOf(node.port, properties, (text) => {
      log += text;
    });
  });
  const users = security ? scramUser(security) : [];
  for (const { id } of nodes) {
    await java(['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', propertiesOf(id), ...users]);
  }
  await Promise.all(started.map((broker) => broker.start()));
  return {
    brokers: started.map((broker) => broker.address).join(','),
    nodes: started,
    log: () => log,
    async close() {
      await Promise.all(started.map((broker) => broker.kill()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** 16 bytes in base64url. One that began with "-" would be taken for an option on the command line. */
function newClusterId(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return bytes.toString('base64url');
}

function serverProperties(
  node: { id: number; port: number; controller: number; internal: number },
  voters: string,
  home: string,
  count: number,
  security: KafkaSecurity | undefined,
): string {
  const clients = `${security ? 'SASL_SSL' : 'PLAINTEXT'}://127.0.0.1:${node.port}`;
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': node.id,
    'controller.quorum.voters': voters,
    listeners: `${clients},BROKERS://127.0.0.1:${node.internal},CONTROLLER://127.0.0.1:${node.controller}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'BROKERS',
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,BROKERS:PLAINTEXT,CONTROLLER:PLAINTEXT',
    ...(security && securityProperties(security)),
    'log.dirs': join(home, 'data'),
    'auto.create.topics.enable': false,
    'offsets.topic.replication.factor': count,
    'transaction.state.log.replication.factor': count,
    'transaction.state.log.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'controller.quorum.election.timeout.ms': 500,
    'log.segment.delete.delay.ms': 1_000,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

/** Not synchronous: it takes seconds, in which the connections of a test would time out. */
async function java(args: string[]): Promise<void> {
  await promisify(execFile)('java', ['-Xmx256m', '-cp', `${JARS}*`, ...args]);
}

function brokerOf(port: number, properties: string, onOutput: (text: string) => void): TestBroker {
  let child: ChildProcess | null = null;
  const running = () => child !== null && child.exitCode === null && child.signalCode === null;
  return {
    address: `127.0.0.1:${port}`,
    running,
    async start() {
      const started = spawn('java', ['-Xmx384m', '-Xms128m', '-cp', `${JARS}*`, 'kafka.Kafka', properties], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      started.stdout.setEncoding('utf8').on('data', onOutput);
      started.stderr.setEncoding('utf8').on('data', onOutput);
      child = started;
      const deadline = Date.now() + READY_MS;
      while (!(await answers(port))) {
        if (started.exitCode !== null) throw new Error(`a broker ended with ${started.exitCode}`);
        if (Date.now() > deadline) throw new Error('a broker did not get ready');
        await delay(100);
      }
    },
    async kill() {
      const dying = child;
      if (!dying || !running()) return;
      const ended = new Promise((resolve) => dying.once('exit', resolve));
      dying.kill('SIGKILL');
      await ended;
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
