import type { Stats } from './stats.ts';
import { commissionWords, creditWords } from './terms-words.ts';

/** Shows the rewards that the program's terms give the user, in the user's mode. */
export function TermsLine({ stats }: { stats: Pick<Stats, 'terms' | 'reward_mode' | 'rewards'> }) {
  const { terms, reward_mode: mode, rewards } = stats;
  const paysCash = terms.credits === null || mode === 'affiliate';
  const sentence = paysCash ? commissionWords(terms, rewards.cash.currency) : creditWords(terms);
  return sentence === null ? null : <p class="terms">{sentence}</p>;
}
