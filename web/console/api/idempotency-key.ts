import { useRef } from 'react';

/** A key of 128 random bits. `crypto.randomUUID` is missing where the console is not on HTTPS. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A key for each content of a form, the same one whenever that is sent, until it was made. */
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
