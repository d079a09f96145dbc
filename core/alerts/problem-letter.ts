import { PROVIDERS, providerWords } from '../connections/providers.ts';
import type { MailWords } from '../languages/mails/words.ts';
import type { Letter } from '../mail/letter.ts';
import { plainName } from '../mail/plain-name.ts';
import type { PlanLimit, ProblemContent, ToldProblem } from './problem-content.ts';

/** Returns a mail about problems as a letter. @param when returns an instant in words */
export function problemLetter(
  { began, ended, url }: ProblemContent,
  name: string,
  words: MailWords,
  when: (iso: string) => string,
): Letter {
  const [first, ...others] = [...began, ...ended];
  const what = first && others.length === 0 ? whatOf(first, words) : null;
  const title = words(began.length > 0 ? 'problems_title' : 'problems_ended_title', { name });
  const line = (problem: ToldProblem) =>
    `• ${whatOf(problem, words)} (${words('problem_since', { time: when(problem.since) })})${detailOf(problem)}`;
  return {
    subject: what === null ? title : words(began.length > 0 ? 'problem_subject' : 'problem_ended', { what }),
    title,
    paragraphs: [
      ...(began.length > 0 ? [began.map(line).join('\n')] : []),
      ...(ended.length > 0
        ? [ended.map((one) => `• ${words('problem_ended', { what: whatOf(one, words) })}`).join('\n')]
        : []),
    ],
    button: { label: words('problem_button'), url },
    notes: [words('problem_recipient', { name })],
  };
}

const LIMIT_WORDS = {
  links: 'problem_limit_links',
  events: 'problem_limit_events',
  commission: 'problem_limit_commission',
} as const satisfies Record<PlanLimit, string>;

function whatOf(problem: ToldProblem, words: MailWords): string {
  const { kind } = problem;
  const count = problem.count ?? 1;
  const name = plainName(problem.name ?? '');
  switch (kind) {
    case 'clicks_lost':
      return words('problem_clicks_lost');
    case 'dead_letters':
    case 'payout_waiting':
      return words(`problem_${kind}`, { count });
    // The path of a webhook may be a secret.
    case 'webhook_disabled':
    case 'webhook_failing':
      return words(`problem_${kind}`, { name: plainName(URL.parse(problem.name ?? '')?.host ?? '') });
    case 'domain_failing':
      return words('problem_domain_failing', { name });
    case 'connection_refused':
      return words('problem_connection_refused', { name: providerName(name) });
    case 'connection_failed':
      return words('problem_connection_failed', { name: providerName(name), count });
    case 'orders_without_rate':
    case 'purchases_without_rate':
      return words(`problem_${kind}`, { name: name.toUpperCase(), count });
    case 'destination_failing':
    case 'fulfilment_failing':
      return words(`problem_${kind}`, { name, count });
    case 'plan_limit_near':
      return words(LIMIT_WORDS[problem.name as PlanLimit] ?? 'problem_limit_links', { count });
  }
}

/** The first failing destination and its response, which need no translation. */
const detailOf = ({ kind, reason }: ToldProblem): string =>
  kind === 'destination_failing' && reason !== null ? `\n${reason}` : '';

function providerName(name: string): string {
  const known = PROVIDERS.find((one) => one === name);
  return known ? providerWords(known).name : name;
}
