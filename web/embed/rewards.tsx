import { formatAmount, formatMoney, kindName } from './formats.ts';
import type { Affiliate, CreditTotals } from './stats.ts';
import { words } from './words.ts';

/** All-time credits by kind. */
export function Credits({ credits }: { credits: Record<string, CreditTotals> }) {
  const kinds = Object.entries(credits).sort(([first], [second]) => first.localeCompare(second));
  return (
    <section class="card" aria-labelledby="credits-heading">
      <h2 id="credits-heading">{words('rewards')}</h2>
      {kinds.length === 0 && <p class="empty">{words('no_rewards')}</p>}
      {kinds.map(([kind, { earned, delivered, pending }]) => (
        <div key={kind} class="kind">
          <h3>{kindName(kind)}</h3>
          <Amounts
            amounts={[
              { name: words('earned'), value: formatAmount(earned), main: true },
              { name: words('delivered'), value: formatAmount(delivered) },
              { name: words('status_pending'), value: formatAmount(pending) },
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
      <h2 id="cash-heading">{words('cash_heading')}</h2>
      <Amounts
        amounts={[
          { name: words('status_eligible'), value: money(balance.eligible), main: true },
          { name: words('status_pending'), value: money(balance.pending) },
          { name: words('status_paid'), value: money(balance.paid) },
        ]}
      />
      {minPayout > 0 && (
        <div class="threshold">
          <progress
            max={minPayout}
            value={Math.min(Math.max(balance.eligible, 0), minPayout)}
            aria-label={words('next_payout')}
            aria-valuetext={words('of', { amount: money(balance.eligible), minimum: money(minPayout) })}
          />
          <p class="hint">
            {words(isReached ? outlook(payoutState) : 'minimum', { minimum: money(minPayout) })}
          </p>
        </div>
      )}
      {payoutState === 'suspended' && <p class="hint">{words('on_hold')}</p>}
      {payoutState === 'method_missing' && isReached && minPayout === 0 && (
        <p class="hint">{words('add_method')}</p>
      )}
      <p class="hint">{words('holding')}</p>
    </section>
  );
}

function outlook(payoutState: PayoutState) {
  if (payoutState === 'ready') return 'reached_ready';
  return payoutState === 'method_missing' ? 'reached_missing' : 'reached';
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
