import { formatDate, formatMoney } from './formats.ts';
import type { Commission, Payout } from './stats.ts';

const TYPES: Record<string, string> = {
  sale: 'Sale',
  renewal: 'Renewal',
  refund: 'Refund',
  correction: 'Correction',
  manual: 'Adjustment',
  imported: 'Earned before',
};

/** The newest commissions. */
export function Commissions({ commissions, currency }: { commissions: Commission[]; currency: string }) {
  return (
    <section class="card wide" aria-labelledby="commissions-heading">
      <h2 id="commissions-heading">Recent commissions</h2>
      {commissions.length === 0 ? (
        <p class="empty">No commissions yet. They appear with the first purchase through your link.</p>
      ) : (
        <div class="lines">
          <table>
            <thead>
              <tr>
                <th scope="col">Date</th>
                <th scope="col">Order</th>
                <th scope="col">Status</th>
                <th scope="col" class="number">
                  Earnings
                </th>
              </tr>
            </thead>
            <tbody>
              {commissions.map((commission, index) => (
                <tr key={`${commission.date} ${index}`}>
                  <td>{formatDate(commission.date)}</td>
                  <td>
                    {TYPES[commission.type] ?? commission.type}{' '}
                    <span class="quiet">{formatMoney(commission.amount, commission.currency)}</span>
                  </td>
                  <td>
                    <Status status={commission.status} />
                    {commission.held_until !== null && (
                      <span class="quiet"> until {formatDate(commission.held_until)}</span>
                    )}
                  </td>
                  <td class="number">{formatMoney(commission.earnings, currency)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** Payouts made so far. */
export function PayoutHistory({ payouts, currency }: { payouts: Payout[]; currency: string }) {
  return (
    <section class="card" aria-labelledby="payouts-heading">
      <h2 id="payouts-heading">Payout history</h2>
      {payouts.length === 0 ? (
        <p class="empty">No payouts yet.</p>
      ) : (
        <div class="lines">
          <table>
            <thead>
              <tr>
                <th scope="col">Date</th>
                <th scope="col">Status</th>
                <th scope="col" class="number">
                  Amount
                </th>
              </tr>
            </thead>
            <tbody>
              {payouts.map((payout, index) => (
                <tr key={`${payout.date} ${index}`}>
                  <td>{formatDate(payout.date)}</td>
                  <td>
                    <Status status={payout.status} />
                  </td>
                  <td class="number">{formatMoney(payout.amount, currency)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Status({ status }: { status: string }) {
  return <span class={`status status-${status}`}>{status.charAt(0).toUpperCase() + status.slice(1)}</span>;
}
