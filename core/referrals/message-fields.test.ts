import { expect, test } from 'vitest';
import { type MessageValues, mergedText, unknownField } from './message-fields.ts';

const VALUES: MessageValues = {
  name: '{link} $& <b>',
  link: 'https://go.example/x',
  program: 'Friends',
  rate: '20%',
  hold_days: '30',
  min_payout: null,
  portal: 'https://app.example/p/friends',
  workspace: 'Corner Shop',
};

test('fields are replaced once, and what a person typed is text', () => {
  expect(mergedText('Hello {name}: {link}', VALUES)).toBe('Hello {link} $& <b>: https://go.example/x');
  expect(mergedText('{min_payout}|{min_payout|any amount}|{rate|none}', VALUES)).toBe('|any amount|20%');
  expect(mergedText('a { } {} {a\nb} }{', VALUES)).toBe('a { } {} {a\nb} }{');
});

test('an unknown field is named, with the known one that is near', () => {
  expect(unknownField('Hello {nmae}, {link}')).toEqual({ name: 'nmae', near: 'name' });
  expect(unknownField('{Name}')).toEqual({ name: 'Name', near: 'name' });
  expect(unknownField('{address|x}')).toEqual({ name: 'address', near: null });
  expect(unknownField('{name} {link|none}')).toBeNull();
});
