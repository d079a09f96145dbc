import type { Stats } from './stats.ts';
import { commissionWords, creditWords } from './terms-words.ts';

/** What the user earns by the terms of the program, in the mode that they are in. */
export function TermsLine({ stats }: { stats: Pick<Stats, 'terms' | 'reward_mode' | 'rewards'> }) {
  const { terms, reward_mode: mode, rewards } = stats;
  const paysCash = terms.credits === null || mode === 'affiliate';
  const sentence = paysCash ? commissionWords(terms, rewards.cash.currency) : creditWords(terms);
  return sentence === null ? null : <p class="terms">{sentence}</p>;
}
