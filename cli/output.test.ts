import { expect, test } from 'vitest';
import { table } from './output.ts';

test('a table shows what a terminal would obey, and keeps other text as it is', () => {
  const text = table(
    ['name'],
    [['\u001b[2Jgone'], ['a\rb\nc'], ['\u009b1m'], ['\u202egnp.exe'], ['Größe 🎉']],
  );
  expect(text.split('\n')).toEqual([
    'name',
    '\\u001b[2Jgone',
    'a\\u000db\\u000ac',
    '\\u009b1m',
    '\\u202egnp.exe',
    'Größe 🎉',
  ]);
});
