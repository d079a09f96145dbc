import { expect, test } from 'vitest';
import { beginningOf, charactersOf, keptTo } from './character-limit.ts';

const FAMILY = '👨‍👩‍👧‍👦';

/** What a field that held `before` holds after it was changed to `after`, and where its caret is. */
function typed(most: number, before: string, after: string) {
  const field = {
    value: after,
    caret: after.length,
    setSelectionRange(at: number) {
      field.caret = at;
    },
  };
  let kept = before;
  const change = keptTo(most, before, (text) => {
    kept = text;
  });
  change({ currentTarget: field });
  return { kept, shown: field.value, caret: field.caret };
}

test('counts an emoji like the API', () => {
  expect(charactersOf('🎉'.repeat(60))).toBe(60);
  expect(charactersOf(FAMILY)).toBe(7);
});

test('truncates a text at a grapheme boundary', () => {
  expect(beginningOf(FAMILY + FAMILY, 16)).toBe(FAMILY + FAMILY);
  expect(beginningOf(FAMILY + FAMILY + FAMILY, 16)).toBe(FAMILY + FAMILY);
  expect(beginningOf('e\u0301e\u0301', 3)).toBe('e\u0301');
});

test('inserts as much of a text as fits, and keeps the text after it', () => {
  expect(typed(5, 'abcd', 'abcde')).toMatchObject({ kept: 'abcde', shown: 'abcde' });
  expect(typed(5, 'abcde', 'abXcde')).toEqual({ kept: 'abcde', shown: 'abcde', caret: 2 });
  expect(typed(5, 'abc', 'aXYZbc')).toEqual({ kept: 'aXYbc', shown: 'aXYbc', caret: 3 });
  expect(typed(5, '🎉🎉', '🎉🎊🎊🎊🎊🎉')).toEqual({ kept: '🎉🎊🎊🎊🎉', shown: '🎉🎊🎊🎊🎉', caret: 8 });
  expect(typed(16, FAMILY + FAMILY, FAMILY + FAMILY + FAMILY).kept).toBe(FAMILY + FAMILY);
});
