import type { ClickHouseClient } from '../clickhouse/client.ts';
import { storedAgentParts } from '../clickhouse/queries/stored-values.ts';
import { BROWSER_NAMES, SYSTEM_NAMES } from '../core/enrich/agent-names.ts';
import { badRequest } from '../core/errors.ts';
import type { Filter } from './filters.ts';

const NAMES = { browser: BROWSER_NAMES, os: SYSTEM_NAMES };

/**
 * Refuses the name of a browser or system that no click can have. The parser's names pass. Imported clicks may have
 * names of another service, so other names are looked up in the workspace's clicks.
 *
 * @throws {AppError} `bad_request` that names the field and lists the names
 */
export async function requireAgentParts(
  clickhouse: ClickHouseClient,
  workspaceId: string,
  { dimension, operator, values, paths = [] }: Filter,
): Promise<void> {
  if ((dimension !== 'browser' && dimension !== 'os') || (operator !== 'is' && operator !== 'is_not')) return;
  const names = NAMES[dimension];
  const others = values.filter((value) => value !== '' && !names.includes(value));
  if (others.length === 0) return;
  const stored = await storedAgentParts(clickhouse, workspaceId, dimension, others);
  const missing = values.findIndex((value) => others.includes(value) && !stored.has(value));
  if (missing !== -1) throw badRequest(paths[missing] ?? dimension, `must be one of ${names.join(', ')}`);
}
