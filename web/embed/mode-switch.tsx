import { useState } from 'preact/hooks';
import { useAnnounce } from './announcer.tsx';
import { explainRefusal } from './failures.ts';
import type { ReferralsApi } from './referrals-api.ts';
import type { RewardMode } from './stats.ts';
import { words } from './words.ts';

const MODES = [
  { mode: 'referrer', name: 'credits', said: 'now_credits' },
  { mode: 'affiliate', name: 'cash', said: 'now_cash' },
] as const;

type Props = {
  api: ReferralsApi;
  mode: RewardMode;
  /** Whether referrers may become affiliates. Affiliates may always become referrers. */
  isOffered: boolean;
  onMode: (mode: RewardMode) => void;
};

/** Switches between credits (referrer) and commission (affiliate) for future conversions. */
export function ModeSwitch({ api, mode, isOffered, onMode }: Props) {
  const [wanted, setWanted] = useState<RewardMode | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const announce = useAnnounce();

  async function choose(next: RewardMode) {
    if (wanted !== null || next === mode) return;
    setWanted(next);
    setRefusal(null);
    const answer = await api.switchMode(next);
    setWanted(null);
    if (answer.ok) {
      onMode(answer.value.reward_mode);
      const now = MODES.find((entry) => entry.mode === answer.value.reward_mode);
      if (now) announce(words(now.said));
    } else setRefusal(explainRefusal(answer.failure));
  }

  return (
    <section class="card mode" aria-labelledby="mode-heading">
      <div>
        <h2 id="mode-heading">{words('mode_heading')}</h2>
        <p class="hint" id="mode-hint">
          {words('mode_hint')} {outlook(mode, isOffered)}
        </p>
      </div>
      <fieldset class="segments" aria-labelledby="mode-heading" aria-describedby="mode-hint">
        {MODES.map(({ mode: own, name }) => (
          <button
            key={own}
            type="button"
            aria-pressed={own === (wanted ?? mode)}
            aria-disabled={wanted !== null}
            disabled={own === 'affiliate' && mode !== 'affiliate' && !isOffered}
            onClick={() => void choose(own)}
          >
            {words(name)}
          </button>
        ))}
      </fieldset>
      {refusal && (
        <p class="refusal" role="alert">
          {refusal}
        </p>
      )}
    </section>
  );
}

function outlook(mode: RewardMode, isOffered: boolean): string {
  if (isOffered) return words('may_return');
  return words(mode === 'affiliate' ? 'cash_ends' : 'cash_ended');
}
