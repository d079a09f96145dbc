import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EMBED_MESSAGES } from './embed/words.ts';
import { LANGUAGE_NAMES, LANGUAGES, type Language } from './languages.ts';
import { MAIL_MESSAGES } from './mails/words.ts';
import { createWords, type Message } from './messages.ts';
import { PAGE_MESSAGES } from './pages/words.ts';
import { PORTAL_MESSAGES } from './portal/words.ts';
import { REPORT_MESSAGES } from './reports/words.ts';

type Table = Record<string, Message>;

/** Every table of messages, by its folder here. */
const TABLES: Record<string, Record<Language, Table>> = {
  pages: PAGE_MESSAGES,
  mails: MAIL_MESSAGES,
  portal: PORTAL_MESSAGES,
  embed: EMBED_MESSAGES,
  reports: REPORT_MESSAGES,
};

const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
const formsOf = (message: Message): string[] =>
  typeof message === 'string' ? [message] : Object.values(message);

describe.each(Object.entries(TABLES))('the words of %s', (folder, table) => {
  test('are in one file for each language', () => {
    const files = readdirSync(new URL(`./${folder}/`, import.meta.url));
    expect(files.filter((name) => /^[a-z]{2}\.ts$/.test(name)).sort()).toEqual(
      LANGUAGES.map((language) => `${language}.ts`).sort(),
    );
    expect(Object.keys(table).sort()).toEqual([...LANGUAGES].sort());
  });

  test.each(LANGUAGES)('in %s have all keys, the placeholders of English, and every plural', (language) => {
    const messages = table[language];
    expect(Object.keys(messages)).toEqual(Object.keys(table.en));
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    for (const [key, english] of Object.entries(table.en)) {
      const message = messages[key] ?? '';
      for (const form of formsOf(message)) {
        expect(form, key).not.toBe('');
        expect(form, key).toBe(form.trim());
        expect(form, key).not.toMatch(/<|>|&\w+;|'|"|\.\.\./);
      }
      if (typeof english === 'string') {
        expect(typeof message, key).toBe('string');
        expect(placeholders(String(message)), key).toEqual(placeholders(english));
        continue;
      }
      if (typeof message === 'string') throw new TypeError(`${key} has no plurals`);
      expect(Object.keys(message).sort(), key).toEqual([...pluralCategories].sort());
      for (const [category, form] of Object.entries(message)) {
        const wanted = placeholders(english.other);
        // One, two, and none may be said without their number.
        const mayOmit = ['zero', 'one', 'two'].includes(category);
        const given = placeholders(form);
        const all = mayOmit && !given.includes('count') ? wanted.filter((name) => name !== 'count') : wanted;
        expect(given, `${key}, ${category}`).toEqual(all);
      }
    }
  });

  test('are translated: no language has the English words of more than a few keys', () => {
    const english = Object.entries(table.en).map(([key, message]) => [key, JSON.stringify(message)] as const);
    for (const language of LANGUAGES.filter((one) => one !== 'en')) {
      const same = english.filter(([key, message]) => JSON.stringify(table[language][key]) === message);
      expect(same.length / english.length, `${language}: ${same.map(([key]) => key)}`).toBeLessThan(0.15);
    }
  });
});

describe('words', () => {
  const messages = {
    plain: 'As it is',
    named: '{name} of {count}',
    days: { one: '{count} day of {name}', other: '{count} days of {name}' },
  } as const;

  test('contain values, numbers in the way of the locale', () => {
    const words = createWords<typeof messages>('de', messages);
    expect(words('plain')).toBe('As it is');
    expect(words('named', { name: '{count} <b>', count: 1234567 })).toBe('{count} <b> of 1.234.567');
    expect(words('days', { name: 'x', count: 1 })).toBe('1 day of x');
    expect(words('days', { name: 'x', count: 1000 })).toBe('1.000 days of x');
  });

  test('follow the plurals of the language', () => {
    const polish = { days: { one: 'o', few: 'f', many: 'm', other: '-' } };
    const pl = createWords<{ days: { other: 'days' } }>('pl', polish);
    const of = (count: number) => pl('days', { count });
    expect([1, 2, 4, 5, 12, 14, 22, 25, 1.5].map(of).join('')).toBe('offmmmfm-');
    const arabic = { days: { zero: '0', one: '1', two: '2', few: 'f', many: 'm', other: '-' } };
    const ar = createWords<{ days: { other: 'days' } }>('ar', arabic);
    expect([0, 1, 2, 3, 10, 11, 99, 100, 103].map((count) => ar('days', { count })).join('')).toBe(
      '012ffmm-f',
    );
  });
});

test('every language has a name', () => {
  expect(Object.keys(LANGUAGE_NAMES)).toEqual([...LANGUAGES]);
});
