/** SHA-256 of short texts, synchronous: `crypto.subtle` needs a call for each, and a secure page. FIPS 180-4. */

/** The first 32 bits of the fractional parts of a root of the first primes. */
function fractions(count: number, root: (prime: number) => number): Uint32Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) {
    if (!primes.some((prime) => n % prime === 0)) primes.push(n);
  }
  return Uint32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32);
}

const START = fractions(8, Math.sqrt);
const ROUNDS = fractions(64, Math.cbrt);

const turn = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits));
const schedule = new Uint32Array(64);

/** Longest text in one block. Characters. */
const MOST = 55;

/** Returns the first 32 bits of the SHA-256 of an ASCII text of at most 55 characters. */
export function hashHead(text: string): number {
  if (text.length > MOST) throw new RangeError(`the text has ${text.length} characters, more than ${MOST}`);
  schedule.fill(0);
  for (let n = 0; n < text.length; n += 1)
    schedule[n >> 2] = (schedule[n >> 2] ?? 0) | (text.charCodeAt(n) << (24 - (n % 4) * 8));
  schedule[text.length >> 2] = (schedule[text.length >> 2] ?? 0) | (0x80 << (24 - (text.length % 4) * 8));
  schedule[15] = text.length * 8;
  for (let n = 16; n < 64; n += 1) {
    const [two = 0, seven = 0, fifteen = 0, sixteen = 0] = [
      schedule[n - 2],
      schedule[n - 7],
      schedule[n - 15],
      schedule[n - 16],
    ];
    const low = turn(fifteen, 7) ^ turn(fifteen, 18) ^ (fifteen >>> 3);
    const high = turn(two, 17) ^ turn(two, 19) ^ (two >>> 10);
    schedule[n] = sixteen + low + seven + high;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = START;
  for (let n = 0; n < 64; n += 1) {
    const choice = (e & f) ^ (~e & g);
    const first =
      (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + (ROUNDS[n] ?? 0) + (schedule[n] ?? 0)) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  return (a + (START[0] ?? 0)) >>> 0;
}
