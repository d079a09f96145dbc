import type { ResponseOf } from '../../api/responses.ts';

export type Keys = ResponseOf<'/keys'>;
export type Key = Keys['keys'][number];
export type KeyKind = Key['kind'];
export type NewKey = ResponseOf<'/keys', 'post'>;

export const KIND_NAMES: Record<KeyKind, string> = { secret: 'Secret', publishable: 'Publishable' };

export const KIND_MEANINGS: Record<KeyKind, string> = {
  secret: 'For your server. Who has it reads and changes everything in this workspace.',
  publishable:
    'May stand in a page that everybody reads. It reports what visitors do, and shows your users their referrals.',
};
