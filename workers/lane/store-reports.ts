import type { Queryable } from '../../sql/database/pool.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import { joinVisitors } from '../../sql/orders/joined-visitors.ts';
import { noteLeads } from '../../sql/orders/leads.ts';
import { recordSales } from '../../sql/orders/recorded-sales.ts';
import { recordedReports } from '../../sql/transactions/one-payment.ts';
import type { Prepared } from './prepare.ts';
import { identityOf, joinsOf, leadOf, orderOf } from './reports.ts';

/** Stores what PostgreSQL keeps of identifies and orders. */
export async function storeReports(
  transaction: Queryable,
  reports: Pick<Prepared, 'identifies' | 'orders'>,
): Promise<void> {
  const { identifies, orders } = reports;
  await upsertIdentities(
    transaction,
    identifies.flatMap(identityOf).map(({ report }) => report),
  );
  await recordSales(
    transaction,
    await recordedReports(
      transaction,
      orders.map((row) => orderOf(row).report),
    ),
  );
  await joinVisitors(transaction, joinsOf(reports));
  await noteLeads(transaction, identifies.flatMap(leadOf));
}
