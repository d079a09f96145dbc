import { PROVIDERS, providerWords } from '../../../../core/connections/providers.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { plural } from '../../formats.ts';

export type Problem = ResponseOf<'/problems'>['problems'][number];

/** A problem in words, with the page that fixes it. */
export type ProblemWords = {
  what: string;
  /** The consequence, and how to fix it. */
  advice: string;
  /** Where it is fixed; null: outside the console. */
  fix: { path: string; label: string } | null;
};

const OPERATOR = 'The operator of this service can fix it.';

/** Returns what is wrong in words. */
export function wordsOf(problem: Problem): ProblemWords {
  const { kind, id, name, count, reason } = problem;
  const many = count ?? 0;
  const known = PROVIDERS.find((one) => one === name);
  const provider = known ? providerWords(known).name : (name ?? '');
  const connection = (status?: string) => ({
    path: `/connections/${id}${status ? `?status=${status}` : ''}`,
    label: status ? 'Show the events' : 'Open the connection',
  });
  switch (kind) {
    case 'clicks_lost':
      return {
        what: 'Clicks are lost',
        advice: `Links redirect, but the server cannot store clicks, as with a full disk. "npx hoplog status" says why. ${OPERATOR}`,
        fix: null,
      };
    case 'conversions_lost':
      return {
        what: 'Conversions are lost',
        advice: `The server cannot store identifies and orders, as with a full disk. "npx hoplog status" says why. ${OPERATOR}`,
        fix: null,
      };
    case 'dead_letters':
      return {
        what: `${plural(many, 'event', 'events')} of this service could not be stored`,
        advice: `"npx hoplog dead-letter list" says why, and "npx hoplog dead-letter replay" stores them. ${OPERATOR}`,
        fix: null,
      };
    case 'webhook_disabled':
      return {
        what: `The webhook to ${hostOf(name)} is disabled`,
        advice: 'It failed for days, and receives nothing. Fix its server, then enable it again.',
        fix: { path: `/webhooks/${id}`, label: 'Open the webhook' },
      };
    case 'webhook_failing':
      return {
        what: `The webhook to ${hostOf(name)} fails`,
        advice: 'Messages are retried. After five days of failures it is disabled.',
        fix: { path: `/webhooks/${id}`, label: 'Open the webhook' },
      };
    case 'domain_failing':
      return {
        what: `The domain ${name} fails its check`,
        advice: `${sentenceOf(reason)}Its links redirect until another workspace proves the domain.`,
        fix: { path: '/domains', label: 'Open domains' },
      };
    case 'domain_pending':
      return {
        what: `The domain ${name} waits for its DNS record`,
        advice: `${sentenceOf(reason)}No links can be made on it before.`,
        fix: { path: '/domains', label: 'Open domains' },
      };
    case 'destination_failing':
      return {
        what: `${plural(many, 'destination', 'destinations')} on ${name} ${many === 1 ? 'does' : 'do'} not work`,
        advice: `Visitors of its links see an error. The first one: ${reason}.`,
        fix: { path: `/links?q=${encodeURIComponent(name ?? '')}`, label: 'Show its links' },
      };
    case 'payout_waiting':
      return {
        what: `A payout file with ${plural(many, 'payout', 'payouts')} has waited for a week`,
        advice: 'Mark it as paid once the money is sent, or cancel it.',
        fix: { path: '/referrals?tab=payouts', label: 'Open payouts' },
      };
    case 'plan_limit_near':
      return {
        what: `${many}% of the plan's ${name === 'links' ? 'links' : `${name} this month`} are used`,
        advice: LIMIT_ADVICE[name ?? ''] ?? '',
        fix: null,
      };
    case 'connection_incomplete':
      return {
        what: `The connection to ${provider} has no signing secret`,
        advice: 'Its events are refused until the secret is set.',
        fix: connection(),
      };
    case 'connection_refused':
      return {
        what: `Calls of ${provider} have a wrong signature`,
        advice: `Its events are refused. Copy the signing secret of the webhook at ${provider} again.`,
        fix: connection(),
      };
    case 'connection_silent':
      return {
        what: `The connection to ${provider} has received no event`,
        advice: `Check that ${provider} sends its events to the address of the connection.`,
        fix: connection(),
      };
    case 'connection_failed':
      return {
        what: `${plural(many, 'event', 'events')} of ${provider} failed`,
        advice: 'Their purchases are not counted. Each event says why, and can be tried again.',
        fix: connection('failed'),
      };
    case 'connection_unmatched':
      return {
        what: `${plural(many, 'event', 'events')} of ${provider} ${many === 1 ? 'matches' : 'match'} no known customer`,
        advice: 'Their purchases earn no commission. Assign them to a referrer, or leave them.',
        fix: connection('unmatched'),
      };
    case 'fulfilment_failing':
      return {
        what: `${plural(many, 'credit', 'credits')} of ${name} could not be delivered`,
        advice: 'Each delivery says why, and can be tried again.',
        fix: { path: '/referrals?tab=fulfilment', label: 'Open fulfilment' },
      };
    case 'mail_failing':
      return {
        what: `${plural(many, 'mail', 'mails')} could not be sent`,
        advice:
          'A mail is tried for a day. Its entry has the words of the mail server. Without a wrong address, the operator of this service can fix it.',
        fix: { path: '/settings?tab=mail', label: 'Open mail' },
      };
    case 'orders_without_rate':
      return {
        what: `${plural(many, 'order', 'orders')} in ${codeOf(name)} ${many === 1 ? 'counts' : 'count'} without revenue`,
        advice: `There is no rate for ${codeOf(name)}. "npx hoplog rate set" sets one, and the orders count at once. ${OPERATOR}`,
        fix: null,
      };
    case 'purchases_without_rate':
      return {
        what: `${plural(many, 'purchase', 'purchases')} in ${codeOf(name)} ${many === 1 ? 'earns' : 'earn'} no commission`,
        advice: `There is no rate for ${codeOf(name)}. "npx hoplog rate set" sets one, and they earn it at once. ${OPERATOR}`,
        fix: { path: '/referrals?tab=purchases', label: 'Open purchases' },
      };
  }
}

const LIMIT_ADVICE: Record<string, string> = {
  links: `At the limit no links can be made. ${OPERATOR}`,
  events: `Nothing is dropped beyond the limit. ${OPERATOR}`,
  commission: `Nothing is dropped beyond the limit. ${OPERATOR}`,
};

const hostOf = (url: string | null) => URL.parse(url ?? '')?.host ?? url ?? '';
const codeOf = (currency: string | null) => (currency ?? '').toUpperCase();
const sentenceOf = (reason: string | null) =>
  reason === null ? '' : `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}. `;
