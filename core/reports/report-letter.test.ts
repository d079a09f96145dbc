import { expect, test } from 'vitest';
import { LANGUAGES, type Language } from '../languages/languages.ts';
import { letterOf } from '../mail/words.ts';
import type { ReportContent } from './report-content.ts';

const CONTENT: ReportContent = {
  kind: 'report',
  name: 'Germany',
  every: 'week',
  from: '2026-11-23',
  to: '2026-11-29',
  timeZone: 'Europe/Paris',
  currency: 'EUR',
  metrics: ['revenue', 'clicks', 'conversion_rate'],
  totals: { revenue: 12_345.5, clicks: 48_211, conversion_rate: 0.0312 },
  before: { revenue: 10_000, clicks: 48_211, conversion_rate: null },
  chart: { unit: 'day', values: [1_234.5], before: [0] },
  tables: [
    {
      dimension: 'country',
      rows: [
        { name: 'DE', value: 12_000, before: 10_000 },
        { name: null, value: 1, before: null },
      ],
    },
    { dimension: 'weekday', rows: [{ name: '7', value: 5, before: null }] },
    { dimension: 'utm_source', rows: [{ name: '', value: 5, before: null }] },
  ],
  url: 'https://app.example/console/',
  isRequested: false,
};

const written = (language: Language) =>
  letterOf(CONTENT, { workspaceName: 'Corner Shop', timeZone: null, language });

test('a report writes words, money, numbers, and dates as its language does', () => {
  const letter = written('fr');
  expect(letter.subject).toBe('Germany: 23–29 novembre 2026');
  expect(letter.paragraphs).toEqual(['23–29 novembre 2026, comparé à la semaine précédente.']);
  expect(letter.figures).toEqual([
    {
      name: 'Chiffre d’affaires',
      value: '12\u202f345,50\u00a0€',
      change: '+23,5\u00a0%, avant 10\u202f000,00\u00a0€',
      isUp: true,
    },
    { name: 'Clics', value: '48\u202f211', change: '0\u00a0%, avant 48\u202f211', isUp: null },
    { name: 'Taux de conversion', value: '3,1\u00a0%', change: null, isUp: null },
  ]);
  expect(letter.tables?.map(({ title, rows }) => [title, ...rows.map(([name]) => name)])).toEqual([
    ['Pays', 'Allemagne', 'Inconnu'],
    ['Jour de la semaine', 'dimanche'],
    ['UTM source', 'Aucun'],
  ]);
  expect(letter.picture?.caption).toBe(
    'Chiffre d’affaires par jour ; le maximum est 1\u202f234,50\u00a0€. Gris : la semaine précédente.',
  );
  expect(written('ja').subject).toBe('Germany: 2026/11/23～2026/11/29');
  expect(written('ar').tables?.[1]?.rows[0]?.[0]).toBe('الأحد');
});

test('a report has no English words in other languages', () => {
  const wordsIn = (language: Language) => {
    const { paragraphs, button, notes, picture, figures } = written(language);
    return [...paragraphs, button?.label, ...(notes ?? []), picture?.caption, figures?.[0]?.name];
  };
  const english = new Set(wordsIn('en'));
  for (const language of LANGUAGES.filter((one) => one !== 'en'))
    expect([language, wordsIn(language).filter((text) => english.has(text))]).toEqual([language, []]);
});
