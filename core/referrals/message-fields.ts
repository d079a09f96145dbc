// Browsers run this file too.
import { nearestName } from '../text/near-names.ts';

/** What a message to referrers may say of each of them, as `{name}`, or `{name|there}` with a text where it is unknown. */
export const MESSAGE_FIELDS = [
  'name',
  'link',
  'program',
  'rate',
  'hold_days',
  'min_payout',
  'portal',
  'workspace',
] as const;
export type MessageField = (typeof MESSAGE_FIELDS)[number];

export type MessageValues = Readonly<Record<MessageField, string | null>>;

const FIELD = /\{([^{}|\r\n]{1,60})(?:\|([^{}\r\n]{0,100}))?\}/g;

const isField = (name: string): name is MessageField => (MESSAGE_FIELDS as readonly string[]).includes(name);

/** Returns the first unknown field of a text, and the known one that it may be a slip of; null: all are known. */
export function unknownField(text: string): { name: string; near: MessageField | null } | null {
  for (const [, name = ''] of text.matchAll(FIELD)) {
    if (isField(name)) continue;
    const near = nearestName(name, MESSAGE_FIELDS);
    return { name, near: near !== null && isField(near) ? near : null };
  }
  return null;
}

/** Returns a text for one referrer. Braces in a value stay: they are text. */
export const mergedText = (text: string, values: MessageValues): string =>
  text.replaceAll(FIELD, (whole, name: string, otherwise = '') =>
    isField(name) ? values[name] || otherwise : whole,
  );
