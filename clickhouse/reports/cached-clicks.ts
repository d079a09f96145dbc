import type { ClickHouseClient } from '../client.ts';
import { CLICKS, type Sql } from '../queries/click-conditions.ts';
import { inSpans, type Span } from '../queries/visible-clicks.ts';
import { type Cover, generationsOf, spanOf } from '../rollups/cover.ts';
import { IS_NEW, nameOf, noteRequest, OWN, rowsFilled, type Shape } from './cached-parts.ts';

const IN_COVER = `${OWN} AND generation IN {generations:Array(UInt64)}`;

/** The periods of a cover, as parameters. */
export type CoverParams = { workspace: string; generations: bigint[]; cover: string };

/**
 * Returns the parameters of a cover. The same periods have the same name, and another one when any was rolled up again.
 */
export function coverParams(workspaceId: string, cover: Cover): CoverParams {
  const generations = generationsOf(cover);
  return { workspace: workspaceId, generations, cover: nameOf(generations.map(String)) };
}

const CHANNELS = `${OWN} AND part = concat('channels/', {cover:String})`;
const LINKS = `${OWN} AND part = concat('links/', {cover:String})`;
const hasChannels = (condition = 'true') =>
  `(SELECT count() > 0 FROM cached_report_parts WHERE ${CHANNELS} AND ${condition})`;

/**
 * Returns the periods of a cover by channel as a subquery: `channel, clicks, visitors` (a state). Needs the parameters
 * {@link CoverParams} and {@link ONE_MOMENT}. `LIMIT 1 BY`, because `FINAL` would copy every state.
 */
export function cachedChannels(client: ClickHouseClient, params: CoverParams): string {
  const fill = `INSERT INTO cached_report_parts (workspace_id, part, channel, clicks, visitors)
    SELECT {workspace:UUID}, concat('channels/', {cover:String}), channel, sum(clicks),
      uniqCombined64MergeState(17)(visitors)
    FROM clicks_rolled_up WHERE ${IN_COVER} AND NOT ${hasChannels(IS_NEW)} GROUP BY channel`;
  if (params.generations.length > 0) {
    noteRequest(client, `${params.workspace}/channels/${params.cover}`, fill, params);
  }
  return `(
    SELECT channel, clicks, visitors FROM cached_report_parts WHERE ${CHANNELS} LIMIT 1 BY channel
    UNION ALL
    SELECT channel, clicks, visitors FROM clicks_rolled_up WHERE ${IN_COVER} AND NOT ${hasChannels()})`;
}

/** SQL of an array of the chosen links that are cached. */
const linksThere = (condition = 'true') =>
  `(SELECT groupUniqArray(link_id) FROM cached_report_parts
    WHERE ${LINKS} AND link_id IN {chosen:Array(UUID)} AND ${condition})`;
const otherLinks = (condition?: string) =>
  `(SELECT arrayJoin(arrayFilter(link -> NOT has(${linksThere(condition)}, link), {chosen:Array(UUID)})))`;

/**
 * Returns the periods of a cover by link as a subquery, of some links: `link_id, clicks, visitors` (a state). Needs
 * {@link CoverParams}, the parameter `chosen` and {@link ONE_MOMENT}.
 */
export function cachedLinks(
  client: ClickHouseClient,
  params: CoverParams,
  chosen: readonly string[],
): string {
  const fill = `INSERT INTO cached_report_parts (workspace_id, part, link_id, clicks, visitors)
    SELECT {workspace:UUID}, concat('links/', {cover:String}), link_id, sum(clicks),
      uniqCombined64MergeState(17)(visitors)
    FROM clicks_rolled_up WHERE ${IN_COVER} AND link_id IN ${otherLinks(IS_NEW)} GROUP BY link_id`;
  if (params.generations.length > 0) {
    const name = `${params.workspace}/links/${params.cover}/${nameOf(chosen)}`;
    noteRequest(client, name, fill, { ...params, chosen });
  }
  return `(
    SELECT link_id, clicks, visitors FROM cached_report_parts
    WHERE ${LINKS} AND link_id IN (SELECT arrayJoin(${linksThere()})) LIMIT 1 BY link_id
    UNION ALL
    SELECT link_id, clicks, visitors FROM clicks_rolled_up WHERE ${IN_COVER} AND link_id IN ${otherLinks()})`;
}

const KEYS = `${OWN} AND part = {part_of_keys:String}`;
const hasKeys = (condition = 'true') =>
  `(SELECT count() > 0 FROM cached_report_parts WHERE ${KEYS} AND ${condition})`;

/** Which rows of a shape are read: the row of all, and those with a key; `only`: these values of the only key. */
export type RowsOfShape = { withWhole: boolean; only?: readonly string[] };

/**
 * Returns the clicks of a window of a shape that no roll-up has, as a subquery: `whole` (1 in rows of all), its keys as
 * `k0, k1, …`, `found` and `state` (of visitors). Whole periods come from the cache, the rest is read click by click.
 * Null unless this process has cached them: clicks that are all read one by one are better counted without states.
 *
 * The row of all is cached too, without keys: of 20,000 cities its state is merged in no time, theirs once more are not.
 *
 * Needs {@link ONE_MOMENT}.
 */
export function cachedKeys(
  client: ClickHouseClient,
  workspaceId: string,
  cover: Cover,
  { keys, condition, params, ...shape }: Shape,
  { withWhole, only }: RowsOfShape,
): Sql | null {
  if (cover.periods.length === 0) return null;
  const names = keys.map((_, n) => `k${n}`);
  const part = partOf(shape.name, workspaceId, cover);
  const whole = inSpans(joined(cover.periods.map(spanOf)), 'whole_');
  const rest = inSpans(cover.rest);
  const ofPart = { ...params, ...whole.params, workspace: workspaceId, part_of_keys: part };
  const isByKey = names.length > 0;
  const clicksIn = (spans: string, groupBy: string, isWhole: string) => `
    SELECT toUInt8(${isWhole}) AS whole, ${keys.map((key, n) => `${key} AS v${n}, `).join('')}
      ${CLICKS} AS found, uniqCombined64State(17)(visitor_id) AS state
    FROM clicks WHERE ${OWN} ${condition} AND ${spans} ${groupBy} HAVING found > 0`;
  const values = keys.map((_, n) => `v${n}`).join(', ');
  const byKeyIn = (spans: string) => clicksIn(spans, `GROUP BY ${values}`, '0');
  const bothIn = (spans: string) =>
    clicksIn(spans, `GROUP BY GROUPING SETS ((${values}), ())`, 'grouping(v0)');
  const inAll = (spans: string) => clicksIn(spans, '', '1');
  const fill = `INSERT INTO cached_report_parts (workspace_id, part, keys, clicks, visitors)
    SELECT {workspace:UUID}, {part_of_keys:String}, CAST(if(whole = 1, [], [${values}]), 'Array(String)'), found, state
    FROM (${(isByKey ? bothIn : inAll)(`${whole.sql} AND NOT ${hasKeys(IS_NEW)}`)})`;
  const rows = `SELECT count() AS found FROM cached_report_parts WHERE ${KEYS}`;
  if (!noteRequest(client, `${workspaceId}/${part}`, fill, ofPart, rows)) return null;
  const uncached = `(${rest.sql} OR (${whole.sql} AND NOT ${hasKeys()}))`;
  const wanted = [
    ...(withWhole || !isByKey ? [] : ['notEmpty(keys)']),
    ...(only ? ['(empty(keys) OR keys[1] IN (SELECT arrayJoin({only:Array(String)})))'] : []),
  ];
  const read = isByKey ? (withWhole ? bothIn : byKeyIn) : inAll;
  // In the row of all, a column has its default, which is a value where the column is an enumeration.
  const ofClicks = names.map((key, n) => `if(whole = 1, '', toString(v${n})) AS ${key}, `).join('');
  return {
    sql: `(
      SELECT toUInt8(empty(keys)) AS whole, ${names.map((key, n) => `keys[${n + 1}] AS ${key}, `).join('')}
        clicks AS found, visitors AS state
      FROM cached_report_parts WHERE ${[KEYS, ...wanted].join(' AND ')} LIMIT 1 BY keys
      UNION ALL SELECT whole, ${ofClicks} found, state FROM (${read(uncached)}))`,
    params: { ...rest.params, ...ofPart, ...(only && { only }) },
  };
}

/** How many rows this process has cached of a shape; 0: none. */
export function rowsCached(
  client: ClickHouseClient,
  workspaceId: string,
  cover: Cover,
  { name }: Pick<Shape, 'name'>,
): number {
  return rowsFilled(client, `${workspaceId}/${partOf(name, workspaceId, cover)}`);
}

const partOf = (name: string, workspaceId: string, cover: Cover) =>
  `keys/${coverParams(workspaceId, cover).cover}/${name}`;

/** Joins spans that touch: as few conditions on each click as possible. @param spans oldest first */
function joined(spans: readonly Span[]): Span[] {
  const apart: Span[] = [];
  for (const span of spans) {
    const last = apart.at(-1);
    if (last?.to === span.from) last.to = span.to;
    else apart.push({ ...span });
  }
  return apart;
}
