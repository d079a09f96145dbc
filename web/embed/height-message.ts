/** The only message from page to host: the height of the page's content. Pure. */

/** The message's `type`, part of the public contract. */
export const HEIGHT_MESSAGE = 'service:embed:height';

/** Maximum height: a wrong number must not make the host's page endless. CSS pixels. */
const HIGHEST = 20_000;

export type HeightMessage = { type: typeof HEIGHT_MESSAGE; height: number };

/**
 * The height in a message, in CSS pixels; null for any other message or an implausible height.
 *
 * @param data of a `message` event with verified source and origin
 */
export function heightIn(data: unknown): number | null {
  if (typeof data !== 'object' || data === null) return null;
  const { type, height } = data as Partial<Record<keyof HeightMessage, unknown>>;
  if (type !== HEIGHT_MESSAGE || typeof height !== 'number') return null;
  return height > 0 && height <= HIGHEST ? Math.ceil(height) : null;
}
