import {
  linkBody,
  SAMPLE_BIO_PAGE,
  SAMPLE_DOMAIN,
  SAMPLE_FOLDERS,
  SAMPLE_LINKS,
  SAMPLE_PROGRAM,
  SAMPLE_REFERRERS,
  type SampleLink,
  withEnd,
} from '../../core/sample-shop/catalog.ts';
import { type SampleHistory, sampleHistory } from '../../core/sample-shop/history.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { programById } from '../../sql/referrals/programs.ts';
import { importCustomers, importPartner } from '../../sql/transactions/import-referrals.ts';
import { takenSlugs } from '../../sql/workspaces/sample-shops.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import type { SampleCall } from './call.ts';

/** Returns a suffix with which all slugs are free: nothing, or `2`, `3`, and so on. */
async function freeEnd(pool: Pool): Promise<string> {
  const slugs = [...SAMPLE_LINKS.map(({ slug }) => slug), SAMPLE_BIO_PAGE.slug, SAMPLE_PROGRAM.code];
  const referrers = SAMPLE_REFERRERS.map(([code]) => `sample-${code}`);
  for (let nth = 1; ; nth++) {
    const end = nth === 1 ? '' : String(nth);
    const taken = await takenSlugs(
      pool,
      [...slugs, ...referrers].map((slug) => withEnd(slug, end)),
    );
    if (taken.size === 0) return end;
  }
}

/**
 * Fills an empty workspace with the sample shop, by the API's own calls: links, bio page, domain and program. The
 * history of clicks and orders, and the referrers and customers, are imported.
 *
 * @param now milliseconds since the epoch
 */
export async function fillSampleShop(
  { pool, call }: { pool: Pool; call: SampleCall },
  workspace: Workspace,
  now: number,
): Promise<void> {
  const end = await freeEnd(pool);
  const folders = new Map<string, string>();
  for (const name of SAMPLE_FOLDERS) {
    folders.set(name, (await call<{ id: string }>('POST', '/folders', { name })).id);
  }
  for (const link of SAMPLE_LINKS) {
    const body = linkBody(link, folders.get(link.folder ?? '') ?? null);
    await call('POST', '/links', { ...body, slug: withEnd(link.slug, end) });
  }
  const { links: buttons } = await call<{ links: { short_url: string | null }[] }>('POST', '/bio-pages', {
    ...SAMPLE_BIO_PAGE,
    slug: withEnd(SAMPLE_BIO_PAGE.slug, end),
  });
  await call('POST', '/domains', { domain: end === '' ? SAMPLE_DOMAIN : `go${end}.${SAMPLE_DOMAIN}` });
  const codeOf = (referrer: string) => withEnd(`sample-${referrer}`, end);
  const history = sampleHistory(
    now,
    ({ slug }: SampleLink) => withEnd(slug, end),
    codeOf,
    buttons.flatMap(({ short_url: url }) => (url === null ? [] : [new URL(url).pathname.slice(1)])),
  );
  for (const annotation of history.annotations) await call('POST', '/annotations', annotation);
  await fillProgram({ pool, call }, workspace, history, { end, now, codeOf });
  // After the referrers, whose links have clicks too.
  const { import_id: importId } = await call<{ import_id: string }>(
    'POST',
    '/clicks/import?from=csv',
    history.clicks,
  );
  await call('POST', `/clicks/import?from=csv&content=orders&import_id=${importId}`, history.orders);
}

/** Creates the program's contents: referrers, their customers, purchases, a refund, and a paid payout. */
async function fillProgram(
  { pool, call }: { pool: Pool; call: SampleCall },
  workspace: Workspace,
  { customers, purchases }: SampleHistory,
  { end, now, codeOf }: { end: string; now: number; codeOf: (referrer: string) => string },
): Promise<void> {
  const { id } = await call<{ id: string }>('POST', '/programs', {
    ...SAMPLE_PROGRAM,
    code: withEnd(SAMPLE_PROGRAM.code, end),
  });
  await inTransaction(pool, async (tx) => {
    const program = await programById(tx, workspace.id, id);
    if (!program) throw new Error(`the sample shop has no program ${id}`);
    const origin = { now: new Date(now), by: 'operator' };
    const partners = new Map<string, Awaited<ReturnType<typeof importPartner>>['partner']>();
    for (const [userId, name] of SAMPLE_REFERRERS) {
      const email = `${userId}@mail.example`;
      const record = {
        ref: { id: userId, email, code: null },
        userId,
        name,
        codes: [codeOf(userId)],
        coupons: userId === 'mara' ? ['MARA10'] : [],
        payout: { method: 'paypal' as const, email },
        isSuspended: userId === 'lea',
      };
      partners.set(userId, (await importPartner(tx, program, { userId, record }, origin)).partner);
    }
    const imported = customers.flatMap(({ id: externalUserId, email, referrer, at }) => {
      const partner = partners.get(referrer);
      return partner ? [{ partner, externalUserId, email, at, payers: [] }] : [];
    });
    await importCustomers(tx, workspace, imported, origin.now);
  });
  for (const { orderId, customer, at, amount } of purchases) {
    await call('POST', '/referrals/report-purchase', {
      external_user_id: customer,
      order_id: orderId,
      amount,
      purchased_at: at.toISOString(),
    });
  }
  const [first] = purchases;
  if (first) await call('POST', '/referrals/report-refund', { refund_id: 'R-1', order_id: first.orderId });
  await call('GET', '/payouts/export?method=paypal');
  const { payouts } = await call<{ payouts: { id: string }[] }>('GET', '/payouts');
  const [file] = payouts;
  if (file) await call('POST', '/payouts', { export_id: file.id });
}
