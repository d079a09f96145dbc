import { formatDate, formatMoney } from './formats.ts';
import type { Commission, Payout } from './stats.ts';
import { words } from './words.ts';

const TYPES = ['sale', 'renewal', 'refund', 'correction', 'manual', 'imported'] as const;
const STATUSES = ['pending', 'eligible', 'paid', 'reversed', 'rejected', 'open', 'failed'] as const;

/** Returns a type or a status in words; one that this page does not know as it is. */
function typeWord(type: string): string {
  const known = TYPES.find((one) => one === type);
  return known ? words(known) : type;
}

function statusWord(status: string): string {
  const known = STATUSES.find((one) => one === status);
  return known ? words(`status_${known}`) : status;
}

/** The newest commissions. */
export function Commissions({ commissions, currency }: { commissions: Commission[]; currency: string }) {
  return (
    <section class="card wide" aria-labelledby="commissions-heading">
      <h2 id="commissions-heading">{words('commissions')}</h2>
      {commissions.length === 0 ? (
        <p class="empty">{words('no_commissions')}</p>
      ) : (
        <div class="lines">
          <table>
            <thead>
              <tr>
                <th scope="col">{words('date')}</th>
                <th scope="col">{words('order')}</th>
                <th scope="col">{words('status')}</th>
                <th scope="col" class="number">
                  {words('earnings')}
                </th>
              </tr>
            </thead>
            <tbody>
              {commissions.map((commission, index) => (
                <tr key={`${commission.date} ${index}`}>
                  <td>{formatDate(commission.date)}</td>
                  <td>
                    {typeWord(commission.type)}{' '}
                    <span class="quiet">{formatMoney(commission.amount, commission.currency)}</span>
                  </td>
                  <td>
                    <Status status={commission.status} />
                    {commission.held_until !== null && (
                      <span class="quiet">
                        {' '}
                        {words('until', { date: formatDate(commission.held_until) })}
                      </span>
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
      <h2 id="payouts-heading">{words('payouts')}</h2>
      {payouts.length === 0 ? (
        <p class="empty">{words('no_payouts')}</p>
      ) : (
        <div class="lines">
          <table>
            <thead>
              <tr>
                <th scope="col">{words('date')}</th>
                <th scope="col">{words('status')}</th>
                <th scope="col" class="number">
                  {words('amount')}
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
  return <span class={`status status-${status}`}>{statusWord(status)}</span>;
}
