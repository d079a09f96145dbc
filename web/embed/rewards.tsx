import { formatAmount, formatMoney, kindName } from './formats.ts';
import type { Affiliate, CreditTotals } from './stats.ts';

/** All-time credits by kind. */
export function Credits({ credits }: { credits: Record<string, CreditTotals> }) {
  const kinds = Object.entries(credits).sort(([first], [second]) => first.localeCompare(second));
  return (
    <section class="card" aria-labelledby="credits-heading">
      <h2 id="credits-heading">Rewards</h2>
      {kinds.length === 0 && (
        <p class="empty">No rewards yet. They appear here when someone joins through your link.</p>
      )}
      {kinds.map(([kind, { earned, delivered, pending }]) => (
        <div key={kind} class="kind">
          <h3>{kindName(kind)}</h3>
          <Amounts
            amounts={[
              { name: 'Earned', value: formatAmount(earned), main: true },
              { name: 'Delivered', value: formatAmount(delivered) },
              { name: 'Pending', value: formatAmount(pending) },
            ]}
          />
        </div>
      ))}
    </section>
  );
}

/**
 * Whether eligible commission can be paid out: not while the referrer is suspended or has no payout method.
 * `unsettled`: no method is saved, and none can be saved here. `held`: a page changed the address recently.
 */
export type PayoutState = 'ready' | 'held' | 'suspended' | 'method_missing' | 'unsettled';

type CashProps = {
  balance: Affiliate['balance'];
  currency: string;
  minPayout: number;
  payoutState: PayoutState;
};

/** All-time commission by status, and the progress to the minimum payout. */
export function Cash({ balance, currency, minPayout, payoutState }: CashProps) {
  const money = (amount: number) => formatMoney(amount, currency);
  const isReached = balance.eligible > 0 && balance.eligible >= minPayout;
  return (
    <section class="card" aria-labelledby="cash-heading">
      <h2 id="cash-heading">Cash balance</h2>
      <Amounts
        amounts={[
          { name: 'Eligible', value: money(balance.eligible), main: true },
          { name: 'Pending', value: money(balance.pending) },
          { name: 'Paid', value: money(balance.paid) },
        ]}
      />
      {minPayout > 0 && (
        <div class="threshold">
          <progress
            max={minPayout}
            value={Math.min(Math.max(balance.eligible, 0), minPayout)}
            aria-label="Eligible for the next payout"
            aria-valuetext={`${money(balance.eligible)} of ${money(minPayout)}`}
          />
          <p class="hint">
            {isReached
              ? `The minimum payout of ${money(minPayout)} is reached${outlook(payoutState)}`
              : `Minimum payout: ${money(minPayout)}.`}
          </p>
        </div>
      )}
      {payoutState === 'suspended' && (
        <p class="hint">Payouts are on hold while your participation is suspended.</p>
      )}
      {payoutState === 'method_missing' && isReached && minPayout === 0 && (
        <p class="hint">Add a payout method to be paid.</p>
      )}
      <p class="hint">Commission is pending until its holding period ends, then eligible for payout.</p>
    </section>
  );
}

function outlook(payoutState: PayoutState): string {
  if (payoutState === 'ready') return ': you are paid with the next payout.';
  return payoutState === 'method_missing' ? ': add a payout method to be paid.' : '.';
}

function Amounts({ amounts }: { amounts: { name: string; value: string; main?: boolean }[] }) {
  return (
    <dl class="amounts">
      {amounts.map(({ name, value, main }) => (
        <div key={name} class={main ? 'amount amount-main' : 'amount'}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
