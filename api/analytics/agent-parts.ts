import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { storedAgentParts } from '../../clickhouse/queries/stored-values.ts';
import { BROWSER_NAMES, SYSTEM_NAMES } from '../../core/enrich/agent-names.ts';
import { badRequest } from '../../core/errors.ts';
import type { Filter } from './filters.ts';

const NAMES = { browser: BROWSER_NAMES, os: SYSTEM_NAMES };

/**
 * Refuses a browser or system that no click can have. Imported clicks may have names of another service: a name that is
 * not of the parser is looked up in the clicks of the workspace.
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
