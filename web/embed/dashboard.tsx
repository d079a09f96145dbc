import type { ComponentChildren, RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ActivityCard } from './activity.tsx';
import { CouponCard } from './coupon-card.tsx';
import { explain, type Failure } from './failures.ts';
import { Figures } from './figures.tsx';
import { formatSpan } from './formats.ts';
import { LinkCard } from './link-card.tsx';
import { ModeSwitch } from './mode-switch.tsx';
import { Commissions, PayoutHistory } from './money-lists.tsx';
import { PayoutSetUp } from './payout-set-up.tsx';
import type { ReferralsApi } from './referrals-api.ts';
import { Cash, Credits, type PayoutState } from './rewards.tsx';
import type { Stats } from './stats.ts';
import { TermsLine } from './terms.tsx';
import { words } from './words.ts';

type Props = {
  api: ReferralsApi;
  stats: Stats;
  /** Days of the period shown. */
  days: number;
  /** Days of the period chosen last: shown, loading or {@link Missed}. */
  chosenDays: number;
  /** Days that the embedding page requests, offered besides the defaults. */
  offeredDays: number;
  missed: Missed | null;
  busy: boolean;
  onDays: (days: number) => void;
  onChange: (made: (stats: Stats) => Stats) => void;
};

/** A chosen period that failed to load. */
export type Missed = { days: number; failure: Failure };

/** The whole dashboard, rendered from the response alone. */
export function Dashboard(props: Props) {
  const { api, stats, days, chosenDays, offeredDays, missed, busy, onDays, onChange } = props;
  const select = useRef<HTMLSelectElement>(null);
  const { affiliate, rewards, reward_mode: mode } = stats;
  const isAffiliate = mode === 'affiliate';
  // An affiliate may return to credits even after the program stops offering cash. The switch stays visible then.
  const mayGoBack = isAffiliate && affiliate.credit_enabled;
  const [hasGoneBack, setGoneBack] = useState(false);
  const hasCredits = Object.keys(rewards.credits).length > 0;
  const hasCash = rewards.cash.total !== 0 || affiliate.recent_commissions.length > 0;
  // Earned cash stays after a switch to credits, and a program without credits pays cash in both modes.
  const showsCash = isAffiliate || hasCash || !affiliate.credit_enabled;
  return (
    <main class="page" aria-busy={busy}>
      <header class="top">
        <h1>{words('heading')}</h1>
        <WindowChoice select={select} days={chosenDays} offered={offeredDays} onDays={onDays} />
      </header>
      {api.isReadOnly && <p class="card warning">{words('preview')}</p>}
      {missed && (
        <div class="card warning missed" role="alert">
          <p>
            {words('missed', {
              title: explain(missed.failure).title,
              missed: formatSpan(missed.days, 'day'),
              days: formatSpan(days, 'day'),
            })}
          </p>
          <button
            type="button"
            class="button button-plain"
            onClick={() => {
              // The button is removed with the notice, and would lose the focus.
              select.current?.focus();
              onDays(missed.days);
            }}
          >
            {words('try_again')}
          </button>
        </div>
      )}
      {stats.status === 'suspended' && <p class="card warning">{words('suspended')}</p>}
      <LinkCard link={stats.referral_link} terms={<TermsLine stats={stats} />} />
      {stats.coupons.length > 0 && <CouponCard codes={stats.coupons} />}
      <Figures stats={stats.stats} days={days} />
      <ActivityCard series={stats.series} days={days} />
      {(affiliate.allowed || mayGoBack || hasGoneBack) && (
        <Changeable api={api}>
          <ModeSwitch
            api={api}
            mode={mode}
            isOffered={affiliate.allowed}
            onMode={(next) => {
              setGoneBack(mayGoBack);
              onChange((now) => ({ ...now, reward_mode: next }));
            }}
          />
        </Changeable>
      )}
      <div class="columns">
        {(hasCredits || !showsCash) && <Credits credits={rewards.credits} />}
        {showsCash && (
          <Cash
            balance={affiliate.balance}
            currency={rewards.cash.currency}
            minPayout={affiliate.min_payout}
            payoutState={payoutStateOf(stats)}
          />
        )}
        {(isAffiliate || !affiliate.credit_enabled) && (
          <Changeable api={api}>
            <PayoutSetUp
              api={api}
              methods={affiliate.payout_methods}
              saved={affiliate.payout_method}
              heldUntil={affiliate.payout_held_until}
              onSaved={({ payout_method, payout_held_until }) =>
                onChange((now) => ({
                  ...now,
                  affiliate: { ...now.affiliate, payout_method, payout_held_until },
                }))
              }
            />
          </Changeable>
        )}
        {showsCash && <PayoutHistory payouts={affiliate.payouts} currency={rewards.cash.currency} />}
        {showsCash && (
          <Commissions commissions={affiliate.recent_commissions} currency={rewards.cash.currency} />
        )}
      </div>
    </main>
  );
}

/** A part that changes something: its controls are disabled in a preview. */
function Changeable({ api, children }: { api: ReferralsApi; children: ComponentChildren }) {
  return api.isReadOnly ? (
    <fieldset class="preview-only" disabled>
      {children}
    </fieldset>
  ) : (
    children
  );
}

function payoutStateOf({ status, reward_mode: mode, affiliate }: Stats): PayoutState {
  if (status === 'suspended') return 'suspended';
  if (affiliate.payout_held_until !== null) return 'held';
  if (affiliate.payout_method) return 'ready';
  // A program with credits accepts a payout method only from affiliates.
  const mayBePaid = mode === 'affiliate' || !affiliate.credit_enabled;
  return mayBePaid && affiliate.payout_methods.length > 0 ? 'method_missing' : 'unsettled';
}

const USUAL_DAYS = [7, 30, 90];

type WindowProps = {
  select: RefObject<HTMLSelectElement | null>;
  days: number;
  offered: number;
  onDays: (days: number) => void;
};

function WindowChoice(props: WindowProps) {
  const choices = [...new Set([...USUAL_DAYS, props.offered])].sort((a, b) => a - b);
  return (
    <label class="window">
      <span class="unseen">{words('period')}</span>
      <select
        ref={props.select}
        value={props.days}
        onChange={(event) => props.onDays(Number(event.currentTarget.value))}
      >
        {choices.map((days) => (
          <option key={days} value={days}>
            {words('last_days', { days: formatSpan(days, 'day') })}
          </option>
        ))}
      </select>
    </label>
  );
}
