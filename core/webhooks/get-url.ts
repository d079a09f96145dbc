import type { WebhookEvent } from './delivery.ts';

/** `{name}`: a field of an event's data. Other braces stay. */
const PLACEHOLDER = /\{([a-z][a-z0-9_]*)\}/g;

/** `{test}` is `true` for an example of an event, and else empty. */
export const TEST_PLACEHOLDER = 'test';

/** Returns the names of the placeholders of a URL, each once. */
export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name))];
}

/** Whether a placeholder is in the part of a URL that says where it leads. */
export function hasPlaceholderInHost(template: string): boolean {
  const [before = ''] = /^[^:]*:\/\/[^/?#\\]*/.exec(template) ?? [];
  return placeholdersOf(before).length > 0;
}

/**
 * Returns the URL that a webhook of the format `get` calls for an event. A placeholder is a text, number, or boolean of
 * the event's data, percent-encoded; else it is empty.
 *
 * @param body the event, as `deliveryBody` writes it
 */
export function filledUrl(template: string, body: string): string {
  const { data, test } = JSON.parse(body) as WebhookEvent;
  const values = { ...(data as Record<string, unknown>), [TEST_PLACEHOLDER]: test };
  return template.replace(PLACEHOLDER, (_, name: string) =>
    Object.hasOwn(values, name) ? encoded(values[name as keyof typeof values]) : '',
  );
}

function encoded(value: unknown): string {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return '';
  const text = String(value).toWellFormed();
  // A path segment of one or two dots, encoded or not, would be another path.
  return /^\.{1,2}$/.test(text) ? '' : encodeURIComponent(text);
}
