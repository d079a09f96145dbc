import { AppError } from '../../core/errors.ts';
import { SAMPLE_NAME, SAMPLE_SITE } from '../../core/sample-shop/catalog.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { createKey, revokeKey } from '../../sql/workspaces/keys.ts';
import { closeSampleShop, completeSampleShop, sampleShopOf } from '../../sql/workspaces/sample-shops.ts';
import { createWorkspace, workspaceById } from '../../sql/workspaces/workspaces.ts';
import { type SampleCall, type SampleRequest, type SampleResponse, sampleCalls } from './call.ts';
import { fillSampleShop } from './fill.ts';

export type SampleShopDeps = {
  pool: Pool;
  /** Sends a request to the API. */
  send: (request: SampleRequest) => Promise<SampleResponse>;
};

/**
 * Returns the id of a workspace's sample shop, which is created if missing. An incomplete one is created again.
 *
 * @param now milliseconds since the epoch
 * @throws {AppError} `conflict` while another sample shop is created or removed
 */
export async function openSampleShop(
  deps: SampleShopDeps,
  sourceId: string,
  now: number,
): Promise<{ id: string; created: boolean }> {
  const known = await sampleShopOf(deps.pool, sourceId);
  if (known?.ready) return { id: known.id, created: false };
  return alone(deps.pool, async () => {
    const found = await sampleShopOf(deps.pool, sourceId);
    if (found?.ready) return { id: found.id, created: false };
    if (found) await remove(deps, found.id);
    return { id: await make(deps, sourceId, now), created: true };
  });
}

/**
 * Removes the sample shop of a workspace. Safe to repeat after an error.
 *
 * @param onClose runs in the transaction that ends its sessions, before they end
 * @returns its id; null where there was none
 * @throws {AppError} `conflict` while another sample shop is created or removed
 */
export async function removeSampleShop(
  deps: SampleShopDeps,
  sourceId: string,
  onClose?: (tx: Queryable, id: string) => Promise<void>,
): Promise<string | null> {
  return alone(deps.pool, async () => {
    const found = await sampleShopOf(deps.pool, sourceId);
    if (found) await remove(deps, found.id, onClose);
    return found?.id ?? null;
  });
}

/** Runs one at a time, because slugs of sample shops are chosen one after the other. */
async function alone<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  const done = await withJobLease(pool, 'sampleShop', async () => ({ result: await work() }));
  if (done === null) {
    throw new AppError('conflict', 'a sample shop is being made or removed: try again in a few seconds');
  }
  return done.result;
}

async function make(deps: SampleShopDeps, sourceId: string, now: number): Promise<string> {
  const { pool } = deps;
  const workspace = await createWorkspace(pool, {
    name: SAMPLE_NAME,
    plan: 'unlimited',
    primaryDomain: SAMPLE_SITE,
    sampleOf: sourceId,
  });
  await withKey(deps, workspace.id, (call) => fillSampleShop({ pool, call }, workspace, now));
  await inTransaction(pool, (tx) => completeSampleShop(tx, workspace.id));
  return workspace.id;
}

/**
 * Undoes the import of the history, and deletes the shop's records as its owner would. Then it closes the workspace.
 */
async function remove(
  deps: SampleShopDeps,
  id: string,
  onClose?: (tx: Queryable, id: string) => Promise<void>,
): Promise<void> {
  const workspace = await workspaceById(deps.pool, id);
  if (!workspace) throw new Error(`the sample shop ${id} does not exist`);
  await withKey(deps, id, async (call) => {
    const { imports } = await call<{ imports: { id: string; undone_at: string | null }[] }>(
      'GET',
      '/clicks/imports',
    );
    for (const one of imports) {
      if (one.undone_at === null) await call('DELETE', `/clicks/imports/${one.id}`);
    }
    const pages = await call<{ bio_pages: { id: string }[] }>('GET', '/bio-pages');
    for (const page of pages.bio_pages) await call('DELETE', `/bio-pages/${page.id}`);
    const { domains } = await call<{ domains: { id: string }[] }>('GET', '/domains');
    for (const domain of domains) await call('DELETE', `/domains/${domain.id}`);
    const { enrollments } = await call<{ enrollments: { partner_id: string }[] }>(
      'GET',
      '/enrollments?limit=100',
    );
    for (const referrer of enrollments) await call('DELETE', `/enrollments/${referrer.partner_id}`);
    const { links } = await call<{ links: { id: string }[] }>('GET', '/links?view=records&limit=500');
    if (links.length > 0) await call('DELETE', '/links/bulk', { ids: links.map((link) => link.id) });
  });
  await inTransaction(deps.pool, async (tx) => {
    await onClose?.(tx, id);
    await closeSampleShop(tx, id);
  });
}

/** Runs work with a key that is revoked afterwards. */
async function withKey(
  { pool, send }: SampleShopDeps,
  workspaceId: string,
  work: (call: SampleCall) => Promise<void>,
): Promise<void> {
  const { key, token } = await createKey(pool, { workspaceId, kind: 'secret', label: SAMPLE_NAME });
  try {
    await work(sampleCalls(send, token));
  } finally {
    await revokeKey(pool, key.id);
  }
}
