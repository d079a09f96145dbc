import { CLICK_BATCH } from './batch.ts';
import type { WebhookEvent } from './delivery.ts';
import { EVENT_TYPES, type EventType, eventKind } from './event-types.ts';

/** An event as people read it in a chat. */
export type Message = {
  /** Words of the service only. */
  title: string;
  /** `name`: words of the service. `value`: text of users, without line breaks and control characters. */
  fields: { name: string; value: string }[];
};

const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES);
const isKnown = (type: string): type is EventType => KNOWN.has(type);

/** Slack allows ten in a section. */
const MOST_FIELDS = 10;
/** Characters of a value. Discord allows 6,000 in a message, and Slack 2,000 in a field, where `&` takes five. */
const VALUE_CHARACTERS = 200;

/** Returns the message of an event. */
export function messageOf({ type, created_at, test, data }: WebhookEvent): Message {
  if (type === CLICK_BATCH && Array.isArray(data)) return batchMessage(data, created_at);
  const of = data as Record<string, unknown>;
  const title = isKnown(type) ? `${test ? 'Test: ' : ''}${eventKind(type).title}` : 'Test';
  const names = isKnown(type) ? eventKind(type).shown : [];
  const fields = names.flatMap((name) => {
    const value = shown(name, of);
    return value === '' ? [] : [{ name: label(name), value }];
  });
  return { title, fields: [...fields.slice(0, MOST_FIELDS - 1), { name: 'Time', value: created_at }] };
}

/** Fields of clicks by which a batch is counted, and the most frequent values that are shown. */
const COUNTED = ['country', 'channel', 'device'];
const MOST_VALUES = 5;

function batchMessage(clicks: readonly Record<string, unknown>[], created_at: string): Message {
  const fields = COUNTED.map((name) => {
    const counts = Map.groupBy(clicks, (click) => click[name]);
    const values = [...counts]
      .filter(([value]) => typeof value === 'string' && value !== '')
      .sort(([, a], [, b]) => b.length - a.length)
      .slice(0, MOST_VALUES)
      .map(([value, { length }]) => `${value} ${length}`);
    return { name: label(name), value: onOneLine(values.join(', ')) };
  });
  return {
    title: `${clicks.length} ${clicks.length === 1 ? 'click' : 'clicks'}`,
    fields: [...fields.filter(({ value }) => value !== ''), { name: 'Time', value: created_at }],
  };
}

/** `external_user_id` → `External user id`. */
const label = (name: string): string =>
  `${name.charAt(0).toUpperCase()}${name.slice(1)}`.replaceAll('_', ' ');

/** Names of amounts of money, where the data has a currency. */
const AMOUNTS: ReadonlySet<string> = new Set(['amount', 'remaining']);

function shown(name: string, data: Record<string, unknown>): string {
  const value = data[name];
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  const { currency } = data;
  const unit = AMOUNTS.has(name) && typeof currency === 'string' ? ` ${currency.toUpperCase()}` : '';
  return onOneLine(`${value}${unit}`);
}

/** Returns text without line breaks, control characters, and marks that change the direction, cut at the limit. */
function onOneLine(text: string): string {
  const characters = [...text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()];
  if (characters.length <= VALUE_CHARACTERS) return characters.join('');
  return `${characters.slice(0, VALUE_CHARACTERS - 1).join('')}…`;
}

/** Returns a value in a code span, in which Slack and Discord see no mention, link, or other markup. */
export const inCode = (value: string): string => `\`${value.replaceAll('`', "'")}\``;
