import { afterEach, expect, test, vi } from 'vitest';
import { addressBytes } from '../http/addresses.ts';
import { type Attempts, type Begun, createAttempts } from './attempts.ts';

afterEach(() => {
  vi.useRealTimers();
});

const address = (text: string) => addressBytes(text) ?? new Uint8Array(16);
const HOME = address('192.0.2.1');

/** The result of `begin`: a word, or `begun` for an attempt. */
const wordOf = (begun: Begun) => (typeof begun === 'string' ? begun : 'begun');

async function attempt(attempts: Attempts, wrong: boolean, link = 'link', from = HOME): Promise<string> {
  const begun = await attempts.begin(link, from, false);
  if (typeof begun !== 'string') begun.end(wrong ? 'wrong' : 'right');
  return wordOf(begun);
}

/** Lets resolved promises continue. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('five wrong passwords a minute are admitted, and each expires after a minute', async () => {
  let now = 0;
  const attempts = createAttempts({ now: () => now });
  const words: string[] = [];
  for (let n = 0; n < 6; n++) words.push(await attempt(attempts, true));
  expect(words).toEqual(['begun', 'begun', 'begun', 'begun', 'begun', 'blocked']);
  now = 59_999;
  expect(await attempt(attempts, true)).toBe('blocked');
  now = 60_001;
  expect(await attempt(attempts, true)).toBe('begun');
});

test('addresses of one IPv6 /64 count together, IPv4 addresses and links apart', async () => {
  const attempts = createAttempts({ now: () => 0 });
  for (let n = 0; n < 5; n++) await attempt(attempts, true, 'link', address(`2001:db8::${n}`));
  expect(await attempt(attempts, true, 'link', address('2001:db8::ffff'))).toBe('blocked');
  expect(await attempt(attempts, true, 'link', address('2001:db8:0:1::1'))).toBe('begun');
  expect(await attempt(attempts, true, 'other', address('2001:db8::1'))).toBe('begun');
  for (let n = 0; n < 5; n++) await attempt(attempts, true, 'link', HOME);
  expect(await attempt(attempts, true, 'link', address('192.0.2.2'))).toBe('begun');
});

test('thirty wrong passwords a minute from all addresses block a link for those who were not let in before', async () => {
  let now = 0;
  const attempts = createAttempts({ now: () => now });
  // Each guess from its own /64.
  const from = (n: number) => address(`2001:db8:0:${n.toString(16)}::1`);
  for (let n = 0; n < 30; n++) expect(await attempt(attempts, true, 'link', from(n))).toBe('begun');
  expect(await attempt(attempts, true, 'link', from(30))).toBe('locked');
  expect(await attempt(attempts, true, 'other', from(30))).toBe('begun');
  expect(wordOf(await attempts.begin('link', HOME, true))).toBe('begun');
  now = 60_001;
  expect(await attempt(attempts, true, 'link', from(31))).toBe('begun');
});

test('of guesses from many addresses at once, thirty are checked, and the others wait for those', async () => {
  const attempts = createAttempts({ now: () => 0 });
  const begun: Begun[] = [];
  for (let n = 0; n < 200; n++) {
    attempts
      .begin('link', address(`2001:db8:0:${n.toString(16)}::1`), false)
      .then((value) => begun.push(value));
  }
  await settled();
  const running = begun.filter((value) => typeof value !== 'string');
  expect([running.length, begun.filter((value) => value === 'busy').length]).toEqual([30, 70]);
  expect(wordOf(await attempts.begin('other', HOME, false))).toBe('begun');
  const states = async () => {
    await settled();
    return [
      begun.filter((value) => typeof value !== 'string').length,
      begun.filter((v) => v === 'locked').length,
    ];
  };
  running[0]?.end('right');
  expect(await states()).toEqual([31, 0]);
  const [next] = begun.slice(100);
  for (const one of [...running.slice(1), next]) {
    expect(await states()).toEqual([31, 0]);
    if (one !== undefined && typeof one !== 'string') one.end('wrong');
  }
  expect(await states()).toEqual([31, 99]);
  expect(wordOf(await attempts.begin('link', HOME, true))).toBe('begun');
});

test('as many checks run at once as may still be wrong, and other attempts wait', async () => {
  const attempts = createAttempts({ now: () => 0 });
  await attempt(attempts, true);
  const all = Array.from({ length: 8 }, () => attempts.begin('link', HOME, false));
  const words = new Array<string>(8).fill('waits');
  const taken: Exclude<Begun, string>[] = [];
  for (const [index, begun] of all.entries()) {
    begun.then((value) => {
      words[index] = wordOf(value);
      if (typeof value !== 'string') taken.push(value);
    });
  }
  const states = async () => {
    await settled();
    return words.map((word) => ({ begun: '+', waits: '.', blocked: '-' })[word]).join('');
  };
  expect(await states()).toBe('++++....');
  taken[0]?.end('right');
  expect(await states()).toBe('+++++...');
  taken[1]?.end('wrong');
  expect(await states()).toBe('+++++...');
  for (const one of taken.slice(2, 4)) one.end('wrong');
  taken[4]?.end('right');
  expect(await states()).toBe('++++++..');
  taken[5]?.end('wrong');
  expect(await states()).toBe('++++++--');
});

test('at most fifty attempts of an address wait, for at most five seconds, and then free their slot', async () => {
  vi.useFakeTimers();
  const attempts = createAttempts({ now: () => 0 });
  const checked = await Promise.all(Array.from({ length: 5 }, () => attempts.begin('link', HOME, false)));
  const waiting = Array.from({ length: 50 }, () => attempts.begin('link', HOME, false));
  expect(await attempts.begin('link', HOME, false)).toBe('busy');
  expect(await attempt(attempts, true, 'other')).toBe('begun');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['busy']));
  for (const one of checked) if (typeof one !== 'string') one.end('right');
  const again = await Promise.all(Array.from({ length: 5 }, () => attempts.begin('link', HOME, false)));
  expect(again.map(wordOf)).toEqual(['begun', 'begun', 'begun', 'begun', 'begun']);
});
