/** The one message between page and host: how high the page's content is. Pure. */

/** The message's `type`, part of the public contract. */
export const HEIGHT_MESSAGE = 'service:embed:height';

/** Beyond this no content goes: a wrong number must not make the host's page endless. CSS pixels. */
const HIGHEST = 20_000;

export type HeightMessage = { type: typeof HEIGHT_MESSAGE; height: number };

/**
 * The height that a message asks for, in CSS pixels; null when it is another message or no sensible height.
 *
 * @param data of a `message` event whose window and origin have been checked
 */
export function heightIn(data: unknown): number | null {
  if (typeof data !== 'object' || data === null) return null;
  const { type, height } = data as Partial<Record<keyof HeightMessage, unknown>>;
  if (type !== HEIGHT_MESSAGE || typeof height !== 'number') return null;
  return height > 0 && height <= HIGHEST ? Math.ceil(height) : null;
}
