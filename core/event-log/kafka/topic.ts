import kafkajs, { type Admin } from 'kafkajs';
import { ConfigError, type KafkaSettings } from '../../settings/config.ts';
import type { Logger } from '../../tier/log.ts';

/** Limit of a record, one merged batch compressed. */
export const RECORD_MAX_BYTES = 900 * 1024;
const TOPIC_MAX_BYTES = RECORD_MAX_BYTES + 64 * 1024;

/**
 * Creates the topic when it is missing, else verifies it, and raises its retention to the setting. Verifying needs only
 * the right to read the topic; a retention that can't be changed is logged.
 *
 * @returns how many partitions it has
 * @throws {ConfigError} when the topic has fewer replicas, or smaller records, than the settings require
 * @throws Error when it can't be created now, such as while brokers start
 */
export async function ensureTopic(admin: Admin, kafka: KafkaSettings, log: Logger): Promise<number> {
  const { topic, partitions, replication } = kafka;
  if (!(await admin.listTopics()).includes(topic)) await createTopic(admin, kafka);
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const found = topics[0]?.partitions ?? [];
  if (found.length < partitions) {
    log.warn(
      { topic, partitions: found.length, KAFKA_PARTITIONS: partitions },
      `the topic has fewer partitions than KAFKA_PARTITIONS; to add them, run: hoplog partitions add ${partitions}`,
    );
  }
  const replicas = Math.min(...found.map((partition) => partition.replicas.length));
  if (replicas < replication) {
    throw new ConfigError(
      'KAFKA_REPLICATION',
      String(replication),
      `topic ${topic} has ${replicas} replicas`,
    );
  }
  await verifyConfigs(admin, topic, replication);
  await raiseRetention(admin, kafka, log);
  return found.length;
}

async function createTopic(admin: Admin, kafka: KafkaSettings): Promise<void> {
  const { topic, partitions, replication, retentionHours } = kafka;
  try {
    await admin.createTopics({
      waitForLeaders: true,
      topics: [
        {
          topic,
          numPartitions: partitions,
          replicationFactor: replication,
          configEntries: [
            { name: 'retention.ms', value: String(retentionHours * 3_600_000) },
            { name: 'min.insync.replicas', value: String(Math.min(2, replication)) },
            { name: 'max.message.bytes', value: String(TOPIC_MAX_BYTES) },
            { name: 'unclean.leader.election.enable', value: 'false' },
            // Retention by the brokers' clocks. With a producer's clock that is wrong, records would expire at once,
            // or stay for years.
            { name: 'message.timestamp.type', value: 'LogAppendTime' },
          ],
        },
      ],
    });
  } catch (error) {
    // The client's message does not name the topic, and hides each topic's reason in a list.
    const reasons = error instanceof kafkajs.KafkaJSAggregateError ? error.errors : [error];
    throw new Error(
      `topic ${topic} with KAFKA_REPLICATION=${replication} and KAFKA_PARTITIONS=${partitions} could not be created: ${reasons
        .map((reason) => (reason as Error).message)
        .join(', ')}`,
      { cause: error },
    );
  }
}

/** An acknowledgement of a replicated topic must mean that two brokers hold the record, and records must fit. */
async function verifyConfigs(admin: Admin, topic: string, replication: number): Promise<void> {
  const names = ['min.insync.replicas', 'max.message.bytes', 'cleanup.policy'];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: names }],
  });
  const value = (name: string) =>
    resources[0]?.configEntries.find((entry) => entry.configName === name)?.configValue ?? '';
  if (replication > 1 && Number(value('min.insync.replicas')) < 2) {
    throw new ConfigError('KAFKA_TOPIC', topic, 'must have min.insync.replicas of at least 2');
  }
  if (Number(value('max.message.bytes')) < TOPIC_MAX_BYTES) {
    throw new ConfigError('KAFKA_TOPIC', topic, `must have max.message.bytes of at least ${TOPIC_MAX_BYTES}`);
  }
  // Compaction would leave one record of each stream.
  if (value('cleanup.policy').includes('compact')) {
    throw new ConfigError('KAFKA_TOPIC', topic, 'must not have the cleanup.policy compact');
  }
}

/**
 * Raises the number of partitions. Running processes find the new ones, and streams move to theirs.
 *
 * @param count the new total
 * @returns how many there were
 * @throws {RangeError} when the topic does not exist or has more
 */
export async function addPartitions(admin: Admin, topic: string, count: number): Promise<number> {
  if (!(await admin.listTopics()).includes(topic)) {
    throw new RangeError(`topic ${topic} does not exist: the first start creates it with KAFKA_PARTITIONS`);
  }
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const before = topics[0]?.partitions.length ?? 0;
  if (count < before) {
    throw new RangeError(
      `topic ${topic} has ${before} partitions: must be that number or more, the new total`,
    );
  }
  if (count > before) await admin.createPartitions({ topicPartitions: [{ topic, count }] });
  return before;
}

const HOUR_MS = 3_600_000;

/**
 * Raises the retention of a topic that keeps events for less than the setting: workers may be down for that long. A
 * longer one stays, since lowering it would delete events.
 */
async function raiseRetention(admin: Admin, kafka: KafkaSettings, log: Logger): Promise<void> {
  const { topic, retentionHours } = kafka;
  const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic };
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [resource] });
  const entries = resources[0]?.configEntries ?? [];
  const retention = Number(entries.find(({ configName }) => configName === 'retention.ms')?.configValue);
  const wanted = retentionHours * HOUR_MS;
  // -1: without an end. NaN: the broker does not tell.
  if (!(retention >= 0 && retention < wanted)) return;
  const fields = { topic, retention_hours: retention / HOUR_MS, KAFKA_RETENTION_HOURS: retentionHours };
  // The request replaces all settings of the topic.
  const kept = entries.filter(
    ({ configName, configSource }) => configSource === OF_TOPIC && configName !== 'retention.ms',
  );
  const configEntries = [
    ...kept.map(({ configName, configValue }) => ({ name: configName, value: configValue })),
    { name: 'retention.ms', value: String(wanted) },
  ];
  try {
    await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] });
    log.info(fields, 'raised the retention of the topic to the setting');
  } catch (error) {
    log.warn(
      { ...fields, err: error },
      'the topic keeps events for less than KAFKA_RETENTION_HOURS, and this user may not change it: raise retention.ms',
    );
  }
}

/** `configSource` of what is set at the topic itself. */
const OF_TOPIC = kafkajs.ConfigSource.TOPIC_CONFIG;
