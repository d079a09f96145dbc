import { expect, test } from 'vitest';
import { prettyJson } from './pretty-json.ts';

test.each([
  {},
  [],
  [[], {}],
  'a "quoted" \\ {word}, [with]: signs',
  { id: 'x', data: { list: [1, -2.5, true, null, 'é'], nothing: {}, none: [] } },
])('%j is written as JSON.stringify writes it with two spaces', (value) => {
  const spaced = JSON.stringify(value, null, 2);
  expect(prettyJson(JSON.stringify(value))).toBe(spaced);
  expect(prettyJson(spaced)).toBe(spaced);
});

test('keeps numbers and escapes unchanged', () => {
  const text = '{"big":12345678901234567890,"amount":10.00,"é":"\\u00e9\\/"}';
  expect(prettyJson(text)).toBe(
    '{\n  "big": 12345678901234567890,\n  "amount": 10.00,\n  "é": "\\u00e9\\/"\n}',
  );
});

test.each(['', 'ok', '<p>{"a": 1}</p>', '{"cut": "of'])('%j is not JSON and stays unchanged', (text) => {
  expect(prettyJson(text)).toBe(text);
});
