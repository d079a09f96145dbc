/** What the API answers about keys. Instants are ISO 8601. */

export type KeyKind = 'secret' | 'publishable';

export type Key = {
  id: string;
  kind: KeyKind;
  label: string;
  /** What its token begins with. */
  prefix: string;
  created_at: string;
  /** To the minute; null: never. */
  last_used_at: string | null;
  revoked_at: string | null;
};

/** `GET /keys` */
export type Keys = { keys: Key[]; next_cursor: string | null };

/** `POST /keys` */
export type NewKey = Key & { token: string };

export const KIND_NAMES: Record<KeyKind, string> = { secret: 'Secret', publishable: 'Publishable' };

export const KIND_MEANINGS: Record<KeyKind, string> = {
  secret: 'For your server. Who has it reads and changes everything in this workspace.',
  publishable:
    'May stand in a page that everybody reads. It reports what visitors do, and shows your users their referrals.',
};
