import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../cli/embedded/free-port.ts';
import { bound } from './bound-process.ts';
import { newClusterId, serverProperties } from './kafka-properties.ts';
import { type KafkaSecurity, scramUser } from './kafka-security.ts';
import { until } from './until.ts';

const JARS = fileURLToPath(new URL('../kafka/target/dependency/', import.meta.url));
/** Timeout of a start on a busy machine. */
const READY_MS = 300_000;
/** The output of `test/kafka/archive.sh`. */
const ARCHIVE = fileURLToPath(new URL('../kafka/target/kafka.jsa', import.meta.url));
/** A broker's directory as the tool formats it, from the same script. */
const FORMATTED = fileURLToPath(new URL('../kafka/target/formatted/', import.meta.url));
/** Compiles once instead of twice: a broker that runs for a minute is ready in half the time. */
const JAVA = [
  '-XX:TieredStopAtLevel=1',
  '-XX:+UseSerialGC',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
  // An archive of another Java version is ignored.
  ...(existsSync(ARCHIVE) ? [`-XX:SharedArchiveFile=${ARCHIVE}`, '-Xshare:auto'] : []),
  '-cp',
  `${JARS}*`,
];
/** Stored characters of the brokers' output: during an outage they write without end. */
const LOG_LENGTH = 200_000;

/** The reason why brokers can't run as processes here, or false. */
export const NO_KAFKA_PROCESSES = !existsSync(JARS)
  ? 'no broker is installed: mvn -f test/kafka dependency:copy-dependencies'
  : !hasJava() && 'no Java is installed';

/** Set by `global-setup.ts`, as chosen by `selection.ts`. */
const WITH_CONTAINERS = process.env.TEST_KAFKA === 'containers';

/** The reason why tests on a broker are skipped, or false. */
export const NO_KAFKA = WITH_CONTAINERS ? false : NO_KAFKA_PROCESSES;

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
  /** Sends `kill -9`. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  running(): boolean;
};

export type TestKafka = {
  /** Value of `KAFKA_BROKERS`. */
  brokers: string;
  nodes: TestBroker[];
  /** Directory of their data; removed by `close()`, and empty where they are containers. */
  directory: string;
  /** Returns their output, for a failed test. */
  log(): string;
  close(): Promise<void>;
};

/** Returns the address or name of the brokers of `startKafka`. */
export async function kafkaHost(): Promise<string> {
  return WITH_CONTAINERS ? await (await import('./kafka-containers.ts')).engineHost() : '127.0.0.1';
}

/**
 * Starts a cluster of real Apache Kafka brokers, as processes on loopback or as containers, and waits until each one
 * responds.
 *
 * @param count 1, or 3 for a cluster that survives the loss of one broker
 * @param security credentials that clients need; default: none
 * @param address of this machine for clients; only for brokers that are processes
 */
export async function startKafka(
  count: 1 | 3,
  security?: KafkaSecurity,
  address = '127.0.0.1',
): Promise<TestKafka> {
  if (WITH_CONTAINERS) return (await import('./kafka-containers.ts')).startKafkaContainers(count, security);
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
  const homeOf = (id: number) => join(directory, String(id));
  const propertiesOf = (id: number) => join(homeOf(id), 'server.properties');
  const dataOf = (id: number) => join(homeOf(id), 'data');
  let log = '';
  const started = nodes.map((node) => {
    mkdirSync(dataOf(node.id), { recursive: true });
    const properties = propertiesOf(node.id);
    const [clients, brokers] = [`${address}:${node.port}`, `127.0.0.1:${node.internal}`];
    const addresses = {
      id: node.id,
      clients,
      advertisedToClients: clients,
      brokers,
      advertisedToBrokers: brokers,
      controller: `127.0.0.1:${node.controller}`,
    };
    const given = { voters, count, dataDir: dataOf(node.id), security };
    writeFileSync(properties, serverProperties(addresses, given));
    return brokerOf({ address, port: node.port }, properties, (text) => {
      log = (log + text).slice(-LOG_LENGTH);
    });
  });
  const isFormatted = security === undefined && existsSync(FORMATTED);
  if (!isFormatted) {
    const users = security ? scramUser(security) : [];
    await java(['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', propertiesOf(1), ...users]);
  }
  const formatted = isFormatted ? FORMATTED : dataOf(1);
  for (const { id } of isFormatted ? nodes : nodes.slice(1)) {
    copyFormatted(formatted, dataOf(id), { id, clusterId });
  }
  const close = async () => {
    await Promise.all(started.map((broker) => broker.kill()));
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await Promise.all(started.map((broker) => broker.start()));
  } catch (error) {
    await close();
    throw new Error(`${error}\n${log.slice(-4_000)}`, { cause: error });
  }
  return {
    brokers: started.map((broker) => broker.address).join(','),
    nodes: started,
    directory,
    log: () => log,
    close,
  };
}

/** Copies a formatted broker directory with a new id: the tool would take seconds for each. */
function copyFormatted(
  formatted: string,
  directory: string,
  { id, clusterId }: { id: number; clusterId: string },
): void {
  copyFileSync(join(formatted, 'bootstrap.checkpoint'), join(directory, 'bootstrap.checkpoint'));
  const meta = readFileSync(join(formatted, 'meta.properties'), 'utf8')
    .replace(/^node\.id=.*$/m, `node.id=${id}`)
    .replace(/^cluster\.id=.*$/m, `cluster.id=${clusterId}`)
    // The broker creates an id of its own.
    .replace(/^directory\.id=.*\n/m, '');
  writeFileSync(join(directory, 'meta.properties'), meta);
}

/**
 * Changes the password of the user at the brokers, which keep authenticated connections. Only for brokers that are
 * processes.
 *
 * @param given.command options of `kafka-configs.sh` that change it
 * @param given.properties file that the command signs in with
 */
export async function changeScramPassword(
  kafka: TestKafka,
  given: { security: KafkaSecurity; command: string[]; properties: string },
): Promise<void> {
  const { security, command, properties } = given;
  const login = `org.apache.kafka.common.security.scram.ScramLoginModule required username="${security.user}" password="${security.password}";`;
  const lines = [
    'security.protocol=SASL_SSL',
    'sasl.mechanism=SCRAM-SHA-512',
    `sasl.jaas.config=${login}`,
    'ssl.truststore.type=PEM',
    `ssl.truststore.location=${security.authority}`,
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${properties}.pem`,
  ];
  const { key, certificate } = security.client;
  writeFileSync(`${properties}.pem`, `${readFileSync(key, 'utf8')}${readFileSync(certificate, 'utf8')}`);
  writeFileSync(properties, `${lines.join('\n')}\n`);
  const to = ['--bootstrap-server', kafka.brokers, '--command-config', properties];
  await java(['kafka.admin.ConfigCommand', ...to, ...command]);
}

/** Not synchronous, because it takes seconds, in which the connections of a test would time out. */
async function java(args: string[]): Promise<void> {
  await promisify(execFile)('java', ['-Xmx256m', ...JAVA, ...args]);
}

function brokerOf(
  clients: { address: string; port: number },
  properties: string,
  onOutput: (text: string) => void,
): TestBroker {
  let child: ChildProcess | null = null;
  const running = () => child !== null && child.exitCode === null && child.signalCode === null;
  return {
    address: `${clients.address}:${clients.port}`,
    running,
    async start() {
      const { file, args } = bound('java', ['-Xmx384m', '-Xms128m', ...JAVA, 'kafka.Kafka', properties]);
      const started = spawn(file, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      started.stdout.setEncoding('utf8').on('data', onOutput);
      started.stderr.setEncoding('utf8').on('data', onOutput);
      child = started;
      const responds = () => {
        if (!running()) throw new Error(`a broker ended with ${started.exitCode ?? started.signalCode}`);
        return isResponding(clients);
      };
      await until('the broker responds', responds, Boolean, { timeoutMs: READY_MS, intervalMs: 100 });
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

function isResponding({ address, port }: { address: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
