import { hashHead } from './sha256.ts';

/** Tries between two looks at the page: some milliseconds. */
const AT_ONCE = 4_000;

/** Returns the text after the challenge's colon that makes their SHA-256 begin with `bits` zero bits, at most 32. */
export async function solve(challenge: string, bits: number): Promise<string> {
  for (let n = 0; ; n += 1) {
    const nonce = n.toString(36);
    if (Math.clz32(hashHead(`${challenge}:${nonce}`)) >= bits) return nonce;
    if (n % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setTimeout(resolve));
  }
}
