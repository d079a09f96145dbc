import { expect, test, vi } from 'vitest';
import { AppError } from '../core/errors.ts';
import { table } from './output.ts';
import { report } from './program.ts';

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

test('an error shows what a terminal would obey, also in names that users gave', () => {
  const written: string[] = [];
  const write = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation((text) => written.push(String(text)) > 0);
  report(
    new AppError('not_found', 'no workspace "\u001b[2Jgone"', [{ path: 'name', message: 'is "\u009b1m"' }]),
  );
  report(new Error('one\ntwo', { cause: new Error('\u0007') }));
  write.mockRestore();
  expect(written.join('')).toBe(
    'hoplog: no workspace "\\u001b[2Jgone"\n  name: is "\\u009b1m"\nhoplog: one\ntwo\n  because: \\u0007\n',
  );
});
