import { beforeEach, expect, test } from 'vitest';
import { EMBED_MESSAGES } from '../../core/languages/embed/words.ts';
import { LANGUAGES } from '../../core/languages/languages.ts';
import { explain, explainRefusal } from './failures.ts';
import { formatAmount, formatMoney, formatRate, kindName } from './formats.ts';
import { shareLinks } from './share-links.ts';
import { commissionWords, creditWords } from './terms-words.ts';
import { localeOf, speak } from './words.ts';

const speakIn = (language: (typeof LANGUAGES)[number]) =>
  speak({ language, messages: EMBED_MESSAGES[language] });
beforeEach(() => speakIn('en'));

const plain = (text: string) => text.replace(/\s/g, ' ');

test('formats money with the decimals of its currency', () => {
  expect(plain(formatMoney(12.5, 'usd'))).toMatch(/12[.,]50/);
  expect(plain(formatMoney(1250, 'jpy'))).toMatch(/1[.,]?250(?![.,]\d)/);
  expect(plain(formatMoney(1.5, 'kwd'))).toMatch(/1[.,]500/);
  expect(plain(formatMoney(12.75, 'rsd'))).toMatch(/12[.,]75/);
  expect(plain(formatMoney(1.125, 'iqd'))).toMatch(/1[.,]125/);
});

test('formats amounts, rates and kinds of credit', () => {
  expect(formatAmount(119)).toBe('119');
  expect(formatAmount(297.5)).toMatch(/^297[.,]50$/);
  expect(formatAmount(1.2345)).toMatch(/^1[.,]2345$/);
  expect(plain(formatRate(0.0213))).toMatch(/^2[.,]1 ?%$/);
  expect(kindName('free_months')).toBe('Free months');
});

test('says what a referrer earns in one sentence', () => {
  const commission = { type: 'percent', rate: 20, first_sale_only: false, months: 12, hold_days: 30 };
  const words = (part: Partial<Omit<typeof commission, 'months'>> & { months?: number | null }) =>
    plain(commissionWords({ commission: { ...commission, ...part }, credits: null }, 'usd') ?? '');
  expect(words({})).toBe(
    'You earn 20% of each payment of a customer for 12 months. Eligible for payout after 30 days.',
  );
  expect(words({ months: null, hold_days: 0 })).toBe('You earn 20% of each payment of a customer.');
  expect(words({ type: 'flat', rate: 25, first_sale_only: true })).toMatch(
    /^You earn .*25[.,]00.* for the first payment of a customer\. Eligible for payout after 30 days\.$/,
  );
  expect(commissionWords({ commission: null, credits: null }, 'usd')).toBeNull();
});

test('numbers, money, and spans of time are those of the language', () => {
  const terms = {
    commission: { type: 'percent', rate: 12.5, first_sale_only: false, months: 12, hold_days: 30 },
    credits: { kind: 'credits', signup: 5, purchase: 0 },
  };
  speakIn('de');
  expect(plain(commissionWords(terms, 'eur') ?? '')).toBe(
    'Sie erhalten 12,5 % von jeder Zahlung eines Kunden, 12 Monate lang. Wartezeit bis zur Auszahlung: 30 Tage.',
  );
  expect(creditWords(terms)).toBe('Sie erhalten 5 Guthaben für eine Anmeldung.');
  expect(plain(formatMoney(1234.5, 'eur'))).toBe('1.234,50 €');
  speakIn('ja');
  expect(plain(commissionWords(terms, 'jpy') ?? '')).toContain('12 か月の間');
  expect(kindName('free_months')).toBe('Free months');
  for (const language of LANGUAGES) {
    speakIn(language);
    expect(commissionWords(terms, 'eur')).not.toMatch(/[{}]/);
  }
  expect(localeOf('de', ['en-GB', 'de-CH', 'de'])).toBe('de-CH');
  expect(localeOf('pl', ['en-GB'])).toBe('pl');
});

test('encodes a shared link completely', () => {
  const link = 'https://go.example.com/abc?x=1&y=2#z';
  for (const { href } of shareLinks(link)) {
    const { searchParams } = new URL(href);
    expect([...searchParams.values()].join(' ')).toContain(link);
  }
  expect(shareLinks(link).map(({ place }) => place)).toEqual(['Email', 'X', 'LinkedIn', 'WhatsApp']);
});

test('encodes line breaks and spaces in a mailto URL', () => {
  expect(shareLinks('https://go.example.com/a')[0]?.href).not.toContain('+');
});

test('explains every failure to the user, and hints the developer', () => {
  const titles = [0, 402, 404, 500].map((status) => explain({ status, code: 'x', message: 'm' }).title);
  expect(new Set(titles).size).toBe(4);
  expect(explain({ status: 401, code: 'unauthorized', message: '' }).hint).toContain('401');
  expect(explain({ status: 402, code: 'payment_required', message: '' }).hint).toContain('402');
  expect(
    explainRefusal({ status: 400, code: 'bad_request', message: '`email` must be an email address' }),
  ).toBe('The address must be an email address.');
});
