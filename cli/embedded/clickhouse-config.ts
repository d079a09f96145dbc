import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { type MemoryPlan, memoryPlan } from './memory.ts';

const MIB = 2 ** 20;
/** Threads of a query on a machine with little memory. */
const SMALL_THREADS = 2;
/**
 * Interval of the progress reports of chDB's own query, which lasts as long as the process and wakes for each.
 * Microseconds.
 */
const STARTER_PROGRESS_MICROS = 60_000_000;

/** The user with all rights; the built-in `default` user only starts the listener. */
export const CLICKHOUSE_USER = 'hoplog';

/** Returns the `Authorization` header that the embedded ClickHouse requires. */
export function authorization(password: string): string {
  return `Basic ${Buffer.from(`${CLICKHOUSE_USER}:${password}`).toString('base64')}`;
}

/**
 * Returns the config.xml of the embedded ClickHouse. `BACKUP` writes below its data directory.
 *
 * Without `defaults` in `http_handlers`, a request that matches no rule gets 404 from the router. It gets no session,
 * no query, and no page (`/play`, `/webterminal`) that ClickHouse serves without a password.
 */
export function configXml(options: {
  dataPath: string;
  port: number;
  password: string;
  memory?: MemoryPlan;
}): string {
  const { clickhouseBytes, isSmall } = options.memory ?? memoryPlan();
  const headers = `<headers><Authorization>${authorization(options.password)}</Authorization></headers>`;
  return `<clickhouse>
  <logger><level>warning</level><console>1</console></logger>
  <path>${escapeXml(options.dataPath)}/</path>
  <http_port>${options.port}</http_port>
  <listen_host>127.0.0.1</listen_host>
  <http_handlers>
    <rule_ping><url>/ping</url>${headers}<handler><type>ping</type></handler></rule_ping>
    <rule_query>${headers}<handler><type>dynamic_query_handler</type></handler></rule_query>
  </http_handlers>
  <users_config>users.xml</users_config>
  <max_server_memory_usage>${clickhouseBytes}</max_server_memory_usage>
  <mark_cache_size>${(isSmall ? 16 : 128) * MIB}</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <background_pool_size>${Math.max(2, Math.min(8, availableParallelism()))}</background_pool_size>
  <background_schedule_pool_size>16</background_schedule_pool_size>
  <keep_alive_timeout>30</keep_alive_timeout>
  <asynchronous_metrics_update_period_s>60</asynchronous_metrics_update_period_s>
  <memory_worker_period_ms>500</memory_worker_period_ms>
  <config_reload_interval_ms>60000</config_reload_interval_ms>
  <backups><allowed_path>backups</allowed_path></backups>
  <merge_tree>
    <number_of_free_entries_in_pool_to_execute_mutation>1</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>1</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
  </merge_tree>
</clickhouse>
`;
}

/**
 * Returns the users.xml. Hazard: chDB's own session uses `default` without a password from 127.0.0.1, and no setting
 * changes that. Other users of the machine also connect from 127.0.0.1. The session lasts until the listener is closed
 * and is the only one that `default` may have, so ClickHouse rejects any other. Grants and quotas are not enough:
 * `file()` needs no grant, and a query without a table counts toward no quota.
 */
export function usersXml(password: string): string {
  // Each thread of a query has blocks and buffers of its own.
  const threads = memoryPlan().isSmall ? `<max_threads>${SMALL_THREADS}</max_threads>` : '';
  const hash = createHash('sha256').update(password).digest('hex');
  return `<clickhouse>
  <users>
    <default>
      <password></password>
      <profile>starting</profile>
      <quota>default</quota>
      <networks><ip>127.0.0.1</ip></networks>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT READ ON FILE</query>
        <query>GRANT CREATE TEMPORARY TABLE ON *.*</query>
      </grants>
    </default>
    <${CLICKHOUSE_USER}>
      <password_sha256_hex>${hash}</password_sha256_hex>
      <profile>default</profile>
      <quota>default</quota>
      <networks><ip>127.0.0.1</ip></networks>
      <access_management>1</access_management>
    </${CLICKHOUSE_USER}>
  </users>
  <profiles>
    <default>${threads}</default>
    <starting>
      <max_sessions_for_user>1</max_sessions_for_user>
      <interactive_delay>${STARTER_PROGRESS_MICROS}</interactive_delay>
    </starting>
  </profiles>
  <quotas><default/></quotas>
</clickhouse>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
