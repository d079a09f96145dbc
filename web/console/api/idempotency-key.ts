import { useRef } from 'react';

/** A key of 128 random bits. `crypto.randomUUID` exists on HTTPS only. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** One idempotency key per content of a form, until the request succeeds. */
export function useIdempotencyKeys(): { keyOf: (content: string) => string; forget: () => void } {
  const { current: keys } = useRef(new Map<string, string>());
  return {
    keyOf(content) {
      const key = keys.get(content) ?? newIdempotencyKey();
      keys.set(content, key);
      return key;
    },
    forget: () => keys.clear(),
  };
}
