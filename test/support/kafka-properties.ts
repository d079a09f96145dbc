import { randomBytes } from 'node:crypto';
import { type KafkaSecurity, securityProperties } from './kafka-security.ts';

/** A broker's listeners, and the addresses that it advertises. */
export type BrokerAddresses = {
  id: number;
  /** For clients: address to listen on, and address to advertise. */
  clients: string;
  advertisedToClients: string;
  /** For the other brokers. */
  brokers: string;
  advertisedToBrokers: string;
  /** For the controllers' votes. */
  controller: string;
};

/**
 * Returns `server.properties` of one broker of a cluster in which each is also a controller (KRaft). A broker's death
 * is noticed quickly, but not so quickly that an overloaded machine causes constant elections. Topics are not created
 * automatically.
 *
 * @param given.voters `id@host:port` of every controller, separated by commas
 * @param given.count number of brokers
 * @param given.security credentials that clients need; default: none
 */
export function serverProperties(
  addresses: BrokerAddresses,
  given: { voters: string; count: number; dataDir: string; security?: KafkaSecurity | undefined },
): string {
  const { voters, count, dataDir, security } = given;
  const protocol = security ? 'SASL_SSL' : 'PLAINTEXT';
  const { clients, brokers, controller } = addresses;
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': addresses.id,
    'controller.quorum.voters': voters,
    listeners: `${protocol}://${clients},BROKERS://${brokers},CONTROLLER://${controller}`,
    'advertised.listeners': `${protocol}://${addresses.advertisedToClients},BROKERS://${addresses.advertisedToBrokers}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'BROKERS',
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,BROKERS:PLAINTEXT,CONTROLLER:PLAINTEXT',
    ...(security && securityProperties(security)),
    'log.dirs': dataDir,
    'auto.create.topics.enable': false,
    'offsets.topic.replication.factor': count,
    'transaction.state.log.replication.factor': count,
    'transaction.state.log.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'broker.session.timeout.ms': 5_000,
    'broker.heartbeat.interval.ms': 500,
    'controller.quorum.election.timeout.ms': 1_000,
    'controller.quorum.fetch.timeout.ms': 4_000,
    'log.segment.delete.delay.ms': 1_000,
    // Small, because a broker of a test starts often, and has few connections and topics.
    'num.network.threads': 1,
    'num.io.threads': 2,
    'background.threads': 1,
    'group.coordinator.threads': 1,
    'share.coordinator.threads': 1,
    'offsets.topic.num.partitions': 1,
    'log.cleaner.dedupe.buffer.size': 2 * 2 ** 20,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

/** 16 bytes in base64url. An id that began with "-" would be parsed as a command-line option. */
export function newClusterId(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return bytes.toString('base64url');
}
