import { expect, test } from 'vitest';
import {
  codesOfLanguage,
  languageTag,
  languageTest,
  preferredLanguage,
  preferredLanguageTag,
} from './languages.ts';

test.each([
  ['de-DE,de;q=0.9,en;q=0.8', 'de'],
  ['en;q=0.8, de-AT', 'de'],
  ['fr', 'fr'],
  ['EN-us', 'en'],
  ['*', ''],
  ['*, pt-BR;q=0.5', 'pt'],
  ['en;q=0, it;q=0.1', 'it'],
  ['en;q=0', ''],
  ['en-US;q=0.1,de', 'de'],
  ['en-US-x;q=0,de', 'de'],
  ['enx,de;q=0.5', 'enx'],
  ['en ,de', 'en'],
  ['e,de', 'de'],
  ['en_US,de', 'de'],
  ['en;q=0.5,de;q=0.5', 'en'],
  ['zh-Hant-TW', 'zh'],
  ['gsw-CH', 'gsw'],
  ['i-klingon, nl', 'nl'],
  ['en;q=abc', 'en'],
  ['<script>', ''],
  ['', ''],
  [`${'x'.repeat(600)},de`, ''],
])('the most preferred language of %j is %j', (header, language) => {
  expect(preferredLanguage(header)).toBe(language);
});

test.each([
  ['de-at', 'de-AT'],
  ['ZH-hant-tw', 'zh-Hant-TW'],
  ['zh-TW-x-own', 'zh-TW'],
  ['sr-Latn', 'sr-Latn'],
  ['iw-IL', 'he-IL'],
  ['in', 'id'],
  ['cmn-Hans', 'zh-Hans'],
  ['es-419', 'es-419'],
  ['i-klingon', ''],
])('the language, script and region of %j are %j', (tag, short) => {
  expect(languageTag(tag)).toBe(short);
});

test.each([
  ['zh-Hant', ['zh-TW', 'zh-HK', 'zh-MO', 'zh-Hant', 'zh-Hant-CN'], ['zh', 'zh-CN', 'zh-SG', 'zh-Hans-HK']],
  ['zh-Hans', ['zh', 'zh-CN', 'zh-Hans-HK', 'cmn'], ['zh-TW', 'zh-Hant']],
  ['zh-TW', ['zh-TW', 'zh-Hant-TW'], ['zh-HK', 'zh-Hant']],
  ['zh', ['zh', 'zh-TW', 'zh-Hant', 'cmn-CN'], ['ja', 'yue']],
  ['sr-Latn', ['sr-Latn-RS', 'sr-ME'], ['sr', 'sr-RS', 'sr-Cyrl-ME', 'hr']],
  ['no', ['no', 'nb-NO', 'nn', 'no-NO'], ['da', 'sv']],
  ['nb', ['nb-NO', 'no'], ['nn']],
  ['nn', ['nn-NO'], ['nb', 'no']],
  ['he', ['iw', 'iw-IL', 'he-IL'], ['yi']],
  ['iw', ['he'], ['ar']],
  ['id', ['in', 'in-ID'], ['ms']],
  ['de', ['de', 'de-AT'], ['nl', '']],
  ['de-AT', ['de-AT', 'de-Latn-AT'], ['de', 'de-DE']],
])('a rule on %s holds for %j, and not for %j', (wanted, holds, fails) => {
  const test = languageTest([languageTag(wanted)]);
  expect(holds.filter((tag) => !test(preferredLanguageTag(`${tag};q=0.9`)))).toEqual([]);
  expect(fails.filter((tag) => test(preferredLanguageTag(tag)))).toEqual([]);
});

test.each([
  ['he', ['he', 'iw']],
  ['in', ['id', 'in']],
  ['yi', ['ji', 'yi']],
  ['ro', ['mo', 'ro']],
  ['jv', ['jv', 'jw']],
  ['fil', ['fil', 'tl']],
  ['cmn', ['cmn', 'zh']],
  ['no', ['nb', 'nn', 'no']],
  ['nb', ['nb', 'no']],
  ['nn', ['nn']],
  ['de', ['de']],
])('clicks of the language %s have the codes %j', (language, codes) => {
  expect(codesOfLanguage(language).toSorted()).toEqual(codes);
});
