import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Registry } from 'prom-client';
import { ownBatches } from '../../core/event-log/open.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import type { TrackedEvent } from '../../core/events/types.ts';
import { uuidv7 } from '../../core/ids.ts';
import { type Config, readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';
import type { Ingest } from '../../ingest/create-ingest.ts';
import { openIngest } from '../../ingest/open.ts';
import type { Pool, Queryable } from '../../sql/database/pool.ts';
import { readSecrets } from '../../sql/database/secrets.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { LIMIT_MS } from './until.ts';

/** The redirect tier in this process, with a journal and a link table of its own. */
export type TestIngest = {
  url: string;
  dataDir: string;
  registry: Registry;
  /** Its readiness on the metrics port. */
  details(): Promise<IngestDetails>;
  /** For `/tls/allowed` of the metrics port. */
  hasDomain(host: string): boolean;
  /** Everything that its journal holds, except heartbeats. */
  events(): Promise<Exclude<TrackedEvent, { kind: 'heartbeat' }>[]>;
  /** Closes it and keeps its directory, for another start with it. */
  close(): Promise<void>;
  remove(): Promise<void>;
};

export const TEST_PIXEL = '/* the pixel */';

/**
 * Starts it on a free port. A visitor waits for PostgreSQL as long as a test does, because on a loaded machine a lookup
 * may take longer than the second after which a real visitor gets 503.
 *
 * @param given.dataDir of an earlier start; default: a new one
 * @param given.env additional settings
 */
export async function startTestIngest(given: {
  databaseUrl: string;
  pool: Pool;
  dataDir?: string;
  env?: Record<string, string>;
}): Promise<TestIngest> {
  const dataDir = given.dataDir ?? (await mkdtemp(join(tmpdir(), 'hoplog-ingest-')));
  const pixelPath = join(dataDir, 'pixel.js');
  await writeFile(pixelPath, TEST_PIXEL);
  const config: Config = readConfig({
    DATABASE_URL: given.databaseUrl,
    DATA_DIR: dataDir,
    INGEST_PORT: '0',
    SHORT_URL: 'http://short.test',
    ...given.env,
  });
  const registry = new Registry();
  const ingest: Ingest = await openIngest({
    config,
    log: silentLogger(),
    registry,
    pixelPath,
    longestWaitMs: LIMIT_MS,
  });
  const streamName = config.streamName || 'ingest-0';
  return {
    url: `http://127.0.0.1:${ingest.port}`,
    dataDir,
    registry,
    details: async () => ingest.readiness() as IngestDetails,
    hasDomain: ingest.hasDomain,
    events: () => journalEvents(given.pool, dataDir, streamName),
    close: ingest.close,
    remove: () => rm(dataDir, { recursive: true, force: true }),
  };
}

/** The readiness of ingest on the metrics port. */
export type IngestDetails = {
  ready: boolean;
  body: { status: string; postgres: string; link_table: { slugs: number; age_seconds: number | null } };
};

/** Returns how many slugs its link table holds, -1 until it is loaded. */
export async function slugsHeld({ details }: Pick<TestIngest, 'details'>): Promise<number> {
  const { ready, body } = await details();
  return ready ? body.link_table.slugs : -1;
}

/** Returns whether its link table is confirmed to match PostgreSQL. */
export async function isCurrent({ details }: Pick<TestIngest, 'details'>): Promise<boolean> {
  const { ready, body } = await details();
  return ready && body.link_table.age_seconds !== null;
}

/** Makes the file of a stopped ingest's link table so old that the next start reads PostgreSQL whole. */
export function ageLinksFile(dataDir: string): void {
  const file = new DatabaseSync(join(dataDir, 'ingest', 'ingest-0', 'links.sqlite'));
  file.exec(`UPDATE sync_point SET at = at - ${7 * 3_600_000}`);
  file.close();
}

/** Returns the events in a stream's journal, except heartbeats. */
export async function journalEvents(
  pool: Pool,
  dataDir: string,
  streamName = 'ingest-0',
): Promise<Exclude<TrackedEvent, { kind: 'heartbeat' }>[]> {
  const sealer = createAddressSealer((await readSecrets(pool)).address);
  const events: Exclude<TrackedEvent, { kind: 'heartbeat' }>[] = [];
  for await (const batch of ownBatches(dataDir, streamName, -1n)) {
    for (const { event } of decodeEvents(batch, sealer).events) {
      if (event.kind !== 'heartbeat') events.push(event);
    }
  }
  return events;
}

/** Creates a workspace with a publishable and a secret key. */
export async function makeWorkspace(
  pool: Pool,
): Promise<{ id: string; publishable: { id: string; token: string }; secret: string }> {
  const { id } = await createWorkspace(pool, { name: 'Test', plan: 'unlimited' });
  const publishable = await createKey(pool, { workspaceId: id, kind: 'publishable', label: '' });
  const secret = await createKey(pool, { workspaceId: id, kind: 'secret', label: '' });
  return { id, publishable: { id: publishable.key.id, token: publishable.token }, secret: secret.token };
}

export type LinkColumns = Partial<{
  domain_number: number;
  slug: string;
  channel: string | null;
  utm_source: string | null;
  utm_medium: string | null;
  utm_campaign: string | null;
  extra_query: string;
  targeting: object;
  /** JSON, because the driver would send an array as PostgreSQL's array type. */
  rules: string;
  split: string;
  split_winner: string;
  split_goal: string;
  split_ends_at: Date;
  expires_at: Date;
  blocked_at: Date;
  max_clicks: number;
  expired_redirect_url: string;
  password_hash: string;
  retargeting: object;
  preview: object;
  redirect_status: number;
  forward_query: boolean;
  forward_path: boolean;
  append_utm: boolean;
  append_visitor: boolean;
  utm_term: string;
  utm_content: string;
  starts_at: Date;
  archived: boolean;
}>;

/** Creates a link in a campaign of its own, by SQL. */
export async function makeLink(
  db: Queryable,
  workspaceId: string,
  destination: string,
  columns: LinkColumns = {},
): Promise<{ id: string; slug: string; destinationId: string }> {
  const id = uuidv7();
  const destinationId = uuidv7();
  const slug = columns.slug ?? `t${id.slice(-10)}`;
  await db.query(
    `INSERT INTO destinations (id, workspace_id, name, destination_url) VALUES ($1, $2, 'Campaign', $3)`,
    [destinationId, workspaceId, destination],
  );
  await db.query(
    `INSERT INTO slugs (domain_number, slug, kind, target_id, workspace_id) VALUES ($4, lower($1), 'link', $2, $3)`,
    [slug, id, workspaceId, columns.domain_number ?? 0],
  );
  const given: Record<string, unknown> = { ...columns, slug };
  const names = Object.keys(given);
  // Serialized like every creation of a link: two concurrent ones could get the same time.
  await db.query(
    `WITH locked AS MATERIALIZED (SELECT FROM workspaces WHERE id = $2 FOR NO KEY UPDATE)
     INSERT INTO links (id, workspace_id, destination_id, created_at, updated_at${names.map((n) => `, ${n}`).join('')})
     SELECT $1, $2, $3, next_link_time($2), now()${names.map((_, index) => `, $${index + 4}`).join('')} FROM locked`,
    [id, workspaceId, destinationId, ...names.map((name) => given[name])],
  );
  return { id, slug, destinationId };
}
