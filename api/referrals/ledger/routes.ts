import { toMajor } from '../../../core/money/money.ts';
import { toCredits } from '../../../core/referrals/credits.ts';
import type { Balance } from '../../../sql/referrals/ledger.ts';
import { type ListedEntry, listEntries, sumEntries } from '../../../sql/referrals/ledger-list.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { readEntryFilter } from './entry-filter.ts';
import { PLACE_OF } from './places.ts';
import { EntryFilterQuery, Ledger, LedgerBalances, type LedgerEntry, LedgerQuery } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Ledger'];

/**
 * Registers the ledger routes: what was earned, moved, reversed and paid. Secret key only: browsers must not read
 * the ledger.
 */
export async function ledgerRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/ledger',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'ledger.list',
        summary: 'List ledger entries, newest first',
        description:
          'Entries are append-only. A change of status is two entries, which move the amount out of the old status and into the new one. Every balance is a sum of entries.',
        querystring: LedgerQuery,
        response: { 200: Ledger },
      },
    },
    async ({ auth, query }) => {
      const rows = await listEntries(pool, auth.workspace.id, readEntryFilter(query), {
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      const page = cutPageAt(rows, query.limit, ({ id }) => id);
      return { entries: page.rows.map(entryRecord), next_cursor: page.nextCursor };
    },
  );

  app.get(
    '/ledger/balances',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'ledger.getBalances',
        summary: 'Get sums of ledger entries',
        description:
          'By status and currency or credit kind, over exactly the entries that `GET /ledger` lists with the same parameters. For one referrer, send `external_user_id`.',
        querystring: EntryFilterQuery,
        response: { 200: LedgerBalances },
      },
    },
    async ({ auth, query }) => {
      const sums = await sumEntries(pool, auth.workspace.id, readEntryFilter(query));
      return {
        balances: sums.map((sum) => ({ ...PLACE_OF[sum.account], ...amountOf(sum), entries: sum.entries })),
      };
    },
  );
}

function entryRecord(entry: ListedEntry): LedgerEntry {
  const { account, unit, amount, enrollment_id, present_status, ...shown } = entry;
  return {
    ...shown,
    ...PLACE_OF[account],
    ...amountOf({ account, unit, amount }),
    partner_id: enrollment_id,
    present_status: present_status as LedgerEntry['present_status'],
  };
}

/** Returns money in major units of its currency, credits in units of their kind. */
function amountOf({ account, unit, amount }: Balance) {
  return PLACE_OF[account].kind === 'commission'
    ? { amount: toMajor(amount, unit), currency: unit, credit_kind: null }
    : { amount: toCredits(amount), currency: null, credit_kind: unit };
}
