import type { ResponseOf } from '../../api/responses.ts';

export type Keys = ResponseOf<'/keys'>;
export type Key = Keys['keys'][number];
export type KeyKind = Key['kind'];
export type NewKey = ResponseOf<'/keys', 'post'>;

export const KIND_NAMES: Record<KeyKind, string> = { secret: 'Secret', publishable: 'Publishable' };

export const KIND_MEANINGS: Record<KeyKind, string> = {
  secret: 'For your server. Anyone who has it can read and change everything in this workspace.',
  publishable: 'Safe in a public page. It reports visitor activity and shows your users their referrals.',
};

export type KeyScope = Key['scopes'][number];
export const SCOPE_NAMES: Record<KeyScope, string> = {
  secret: 'everything',
  publishable: 'everything',
  read: 'reads',
  links: 'links',
  referrals: 'referrals',
  tracking: 'tracking',
};

export const MAKER_NAMES: Record<Key['created_by']['type'], string> = {
  key: 'By another key',
  member: 'By a member',
  partner: 'By the partner',
  operator: 'By the operator',
};

export type PixelProblems = ResponseOf<'/pixel/problems'>;
export type PixelProblem = PixelProblems['problems'][number];
export type PixelTest = ResponseOf<'/pixel/tests/{id}'>;
export type PixelTestCall = PixelTest['calls'][number];

export const OUTCOME_NAMES = { recorded: 'Recorded', corrected: 'Corrected', refused: 'Refused' } as const;
export const OUTCOME_SIGNS = { recorded: 'good', corrected: 'waiting', refused: 'bad' } as const;

/** A problem as a sentence. */
export const problemText = ({ field, message }: Pick<PixelProblem, 'field' | 'message'>) =>
  `${field} ${message.replaceAll('`', '')}.`;
