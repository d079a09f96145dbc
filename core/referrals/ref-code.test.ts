import { expect, test } from 'vitest';
import { slugOfRefCode } from './ref-code.ts';

test.each([
  'aDa-7',
  ' aDa-7 ',
  'aDa-7/',
  '/aDa-7',
  'aDa-7?utm_source=x',
  'https://hop.example/aDa-7',
  ' https://hop.example/aDa-7/?utm_source=x#top\n',
  'hop.example/aDa-7',
  'https://shop.example/join?ref=aDa-7&_vid=1',
  'https://shop.example/join/?utm_source=x&ref=aDa-7#form',
])('%j names the slug', (text) => {
  expect(slugOfRefCode(text)).toBe('aDa-7');
});

test.each(['', ' ', '/', '?', 'https://'])('%j names no slug of a link', (text) => {
  expect(['', 'https:']).toContain(slugOfRefCode(text));
});
