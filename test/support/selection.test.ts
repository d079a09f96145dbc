import { expect, test } from 'vitest';
import { type Machine, type Selection, selectServers } from './selection.ts';

const SERVERS = { TEST_DATABASE_URL: 'postgres://a', TEST_CLICKHOUSE_URL: 'http://b' };

function machine(has: { embedded?: boolean; jars?: boolean; engine?: boolean }): Machine {
  const { embedded = true, jars = true, engine = true } = has;
  return { embeddedStores: embedded, kafkaJars: jars, containerEngine: async () => engine };
}

test.each<[string, Record<string, string>, Machine, Selection]>([
  [
    'a machine that has everything uses no container',
    {},
    machine({}),
    { stores: 'embedded', kafka: 'processes' },
  ],
  [
    'containers replace missing brokers',
    {},
    machine({ jars: false }),
    { stores: 'embedded', kafka: 'containers' },
  ],
  [
    'containers replace missing databases',
    {},
    machine({ embedded: false }),
    { stores: 'containers', kafka: 'processes' },
  ],
  [
    'without an engine brokers are missing',
    {},
    machine({ jars: false, engine: false }),
    { stores: 'embedded', kafka: 'missing' },
  ],
  [
    'everything is in containers when requested',
    { TEST_STORES: 'containers' },
    machine({}),
    { stores: 'containers', kafka: 'containers' },
  ],
  [
    'nothing is in containers when requested',
    { TEST_STORES: 'embedded' },
    machine({ jars: false }),
    { stores: 'embedded', kafka: 'missing' },
  ],
  [
    'given servers are used',
    SERVERS,
    machine({ embedded: false, engine: false }),
    { stores: 'given', kafka: 'processes' },
  ],
  [
    'given servers go with brokers in containers',
    { ...SERVERS, TEST_STORES: 'containers' },
    machine({}),
    { stores: 'given', kafka: 'containers' },
  ],
  [
    'a single address is ignored',
    { TEST_DATABASE_URL: 'postgres://a' },
    machine({}),
    { stores: 'embedded', kafka: 'processes' },
  ],
])('%s', async (_what, env, has, expected) => {
  expect(await selectServers(env, has)).toEqual(expected);
});

test('the engine is not checked where it would change nothing', async () => {
  const asked: string[] = [];
  const all = { ...machine({}), containerEngine: async () => asked.push('engine') > 0 };
  await selectServers({}, all);
  await selectServers({ TEST_STORES: 'embedded' }, { ...all, kafkaJars: false });
  expect(asked).toEqual([]);
});

test.each<[Record<string, string>, Machine, RegExp]>([
  [{ TEST_STORES: 'docker' }, machine({}), /TEST_STORES="docker": must be empty, "embedded" or "containers"/],
  [{ TEST_STORES: 'containers' }, machine({ engine: false }), /no container engine answers/],
  [{}, machine({ embedded: false, engine: false }), /set TEST_DATABASE_URL and TEST_CLICKHOUSE_URL/],
  [
    { TEST_STORES: 'embedded' },
    machine({ embedded: false }),
    /set TEST_DATABASE_URL and TEST_CLICKHOUSE_URL/,
  ],
])('%j is rejected with instructions where it is not available', async (env, has, message) => {
  await expect(selectServers(env, has)).rejects.toThrow(message);
});
