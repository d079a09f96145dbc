import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  type AclEntry,
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  ResourcePatternTypes,
  type SASLOptions,
} from 'kafkajs';
import { createKafka } from '../../core/event-log/kafka/client.ts';
import { readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';
import type { KafkaSecurity } from './kafka-security.ts';

const PAGE = new URL('../../docs/operations/security.md', import.meta.url);
const OPERATIONS: Record<string, AclOperationTypes> = {
  Alter: AclOperationTypes.ALTER,
  AlterConfigs: AclOperationTypes.ALTER_CONFIGS,
  Create: AclOperationTypes.CREATE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
};

/** Options of `kafka-acls.sh` on the page about security. */
export function documentedRights(): string[] {
  return [...readFileSync(PAGE, 'utf8').matchAll(/^acls (--.*)$/gm)].map(([, options = '']) => options);
}

function aclsOf(rights: readonly string[], user: string): AclEntry[] {
  return rights.flatMap((command) => {
    const { values } = parseArgs({
      args: command.split(/\s+/),
      options: {
        topic: { type: 'string' },
        group: { type: 'string' },
        cluster: { type: 'boolean' },
        'resource-pattern-type': { type: 'string', default: 'literal' },
        operation: { type: 'string', multiple: true, default: [] },
      },
    });
    const { topic, group, operation: operations } = values;
    const named = topic ?? group;
    const resourceType = topic === undefined ? AclResourceTypes.GROUP : AclResourceTypes.TOPIC;
    return operations.map((name): AclEntry => {
      const operation = OPERATIONS[name];
      if (operation === undefined) throw new Error(`unknown operation ${name} in "${command}"`);
      return {
        principal: `User:${user}`,
        host: '*',
        operation,
        permissionType: AclPermissionTypes.ALLOW,
        resourceType: named === undefined ? AclResourceTypes.CLUSTER : resourceType,
        resourceName: named ?? 'kafka-cluster',
        resourcePatternType:
          values['resource-pattern-type'] === 'prefixed'
            ? ResourcePatternTypes.PREFIXED
            : ResourcePatternTypes.LITERAL,
      };
    });
  });
}

const clientOf = (settings: NodeJS.ProcessEnv, sasl: SASLOptions) => {
  const { kafka, kafkaBrokers } = readConfig({ ...settings, BASE_URL: '' });
  const given = { sasl, retry: { retries: 1 } };
  return createKafka({ brokers: kafkaBrokers, kafka }, 'test-acls', silentLogger(), {
    config: given,
  }).admin();
};

/**
 * Gives the user rights, as options of `kafka-acls.sh`.
 *
 * @param settings of a process that connects as that user
 */
export async function grant(
  rights: readonly string[],
  settings: NodeJS.ProcessEnv,
  { user, password, admin }: KafkaSecurity,
): Promise<void> {
  const client = clientOf(settings, { mechanism: 'plain', username: admin, password });
  await client.connect();
  await client.createAcls({ acl: aclsOf(rights, user) }).finally(client.disconnect);
}

/** Returns what the broker says when the user creates this topic. */
export async function answerToCreation(
  topic: string,
  settings: NodeJS.ProcessEnv,
  { user, password }: KafkaSecurity,
): Promise<string> {
  const client = clientOf(settings, { mechanism: 'plain', username: user, password });
  await client.connect();
  return client
    .createTopics({ topics: [{ topic, numPartitions: 1, replicationFactor: 1 }] })
    .then(
      () => 'created',
      (error: { errors?: Error[] } & Error) => error.errors?.[0]?.message ?? error.message,
    )
    .finally(client.disconnect);
}
