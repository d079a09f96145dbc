import { type ClickHouseClient, createClickHouse } from '../clickhouse/client.ts';
import { type DamagedPart, damagedParts, describeDamage } from '../clickhouse/damaged-parts.ts';
import type { Config } from '../core/settings/config.ts';
import { addressesOfReplicas } from './stores.ts';

/** Maximum number of damaged parts in the message. */
const NAMED = 5;

export type ClickHouseStatus = { ok: boolean; isWarning?: boolean; detail: string };

/** A replica whose rows may be missing from responses. */
class Damaged extends Error {}

/**
 * Returns the state of every replica of ClickHouse as one part. One that does not respond is a warning while another
 * one does; a damaged part is a fault, because the replica is read.
 *
 * @param part runs a check
 */
export async function clickhouseStatus(
  config: Config,
  timeoutMs: number,
  part: (check: () => Promise<string>) => Promise<ClickHouseStatus>,
): Promise<ClickHouseStatus> {
  const addresses = addressesOfReplicas(config);
  let isDamaged = false;
  const all = await Promise.all(
    addresses.map(async ({ name, url }) => {
      const clickhouse = createClickHouse({ url, database: config.clickhouseDatabase, timeoutMs });
      try {
        const found = await part(() =>
          versionOf(clickhouse).catch((error: unknown) => {
            isDamaged ||= error instanceof Damaged;
            throw error;
          }),
        );
        return { ...found, detail: addresses.length > 1 ? `${name}: ${found.detail}` : found.detail };
      } finally {
        await clickhouse.close();
      }
    }),
  );
  const [only, ...others] = all;
  if (only && others.length === 0) return only;
  return {
    ok: !isDamaged && all.some(({ ok }) => ok),
    isWarning: !all.every(({ ok }) => ok),
    detail: all.map(({ detail }) => detail).join('; '),
  };
}

/** @throws when it does not respond, or has damaged parts */
async function versionOf(clickhouse: ClickHouseClient): Promise<string> {
  const result = await clickhouse.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' });
  const [row] = await result.json<{ version: string }>();
  assertWhole(await damagedParts(clickhouse));
  return `version ${row?.version ?? 'unknown'}`;
}

function assertWhole(damaged: DamagedPart[]): void {
  if (damaged.length === 0) return;
  const named = damaged.slice(0, NAMED).map(describeDamage).join(', ');
  const more = damaged.length > NAMED ? ` and ${damaged.length - NAMED} more` : '';
  throw new Damaged(
    `damaged parts whose rows may be missing: ${named}${more}; see docs/operations/damaged-data.md`,
  );
}
