/** Sources of a test run's servers. */
export type Selection = {
  /** `given`: those of `TEST_DATABASE_URL` and `TEST_CLICKHOUSE_URL`. */
  stores: 'given' | 'embedded' | 'containers';
  /** `processes`: from the jars that Maven downloads. `missing`: tests on brokers are skipped. */
  kafka: 'processes' | 'containers' | 'missing';
};

/** The capabilities of this machine. */
export type Machine = {
  embeddedStores: boolean;
  kafkaJars: boolean;
  /** Returns whether a container engine responds. Called only if the result matters. */
  containerEngine: () => Promise<boolean>;
};

/**
 * Chooses the servers. `TEST_STORES=containers` runs everything in containers, `embedded` nothing. By default
 * containers replace the servers that this machine lacks.
 *
 * @throws Error that names the setting or package to add, when no databases are available
 */
export async function selectServers(
  env: { TEST_STORES?: string; TEST_DATABASE_URL?: string; TEST_CLICKHOUSE_URL?: string },
  machine: Machine,
): Promise<Selection> {
  const wish = env.TEST_STORES ?? '';
  if (!['', 'embedded', 'containers'].includes(wish)) {
    throw new Error(`TEST_STORES=${JSON.stringify(wish)}: must be empty, "embedded" or "containers"`);
  }
  const given = Boolean(env.TEST_DATABASE_URL && env.TEST_CLICKHOUSE_URL);
  const lacks = !machine.kafkaJars || (!given && !machine.embeddedStores);
  const containers =
    wish === 'containers' || (wish === '' && lacks) ? await machine.containerEngine() : false;
  if (wish === 'containers') {
    if (!containers) throw new Error('TEST_STORES=containers: no container engine answers');
    return { stores: given ? 'given' : 'containers', kafka: 'containers' };
  }
  if (!given && !machine.embeddedStores && !containers) {
    throw new Error(
      'no PostgreSQL and ClickHouse for the tests: this machine has no embedded ones and no container engine answers; ' +
        'set TEST_DATABASE_URL and TEST_CLICKHOUSE_URL',
    );
  }
  const standIn = containers ? 'containers' : 'missing';
  return {
    stores: given ? 'given' : machine.embeddedStores ? 'embedded' : 'containers',
    kafka: machine.kafkaJars ? 'processes' : standIn,
  };
}
