import { describe, expect, test } from 'vitest';
import { paletteOf } from './palette.ts';
import { DEFAULT_THEME, mergeTheme, type Theme } from './theme.ts';

const merged = (sent: Record<string, unknown>) => mergeTheme(DEFAULT_THEME, sent);

describe('a value outside its set becomes the default', () => {
  test.each<[keyof Theme, unknown[], unknown[]]>([
    ['canvasMode', ['color', 'gradient', 'image'], ['video', '', null, 1]],
    [
      'canvasValue',
      ['#abc', 'tomato', 'sunset', 'https://i.example/a.png', 'http://i.example'],
      ['x', 'data:image/png,', 7, null],
    ],
    ['cardMode', ['none', 'solid', 'glass'], ['NONE', {}]],
    ['cardBg', ['#abcd', 'rgba(1,2,3,.4)'], ['sunset', 'https://i.example']],
    ['textColor', ['black', 'hsl(1 2% 3%)'], ['', []]],
    ['buttonStyle', ['fill', 'outline', 'soft'], ['ghost']],
    ['buttonColor', ['teal'], ['teal;']],
    ['buttonTextColor', ['#fff'], ['#ff']],
    ['buttonRadius', ['none', 'sm', 'md', 'lg', 'full'], ['xl', 12]],
    ['buttonShadow', ['none', 'soft', 'hard'], ['big', true]],
    ['buttonShadowColor', ['#00000040'], ['shadow']],
    [
      'font',
      ['system', 'serif', 'mono', 'rounded', 'humanist', 'geometric', 'slab', 'condensed'],
      ['Comic Sans', ''],
    ],
    [
      'footerImage',
      ['https://i.example/f.png', null],
      ['f.png', '', 'javascript:alert(1)', `https://i.example/${'x'.repeat(1_024)}`],
    ],
  ])('%s', (key, allowed, refused) => {
    for (const value of allowed) expect(merged({ [key]: value })).toEqual({ ...DEFAULT_THEME, [key]: value });
    for (const value of refused) {
      const before = { ...DEFAULT_THEME, [key]: allowed[0] } as Theme;
      expect(mergeTheme(before, { [key]: value })).toEqual(DEFAULT_THEME);
    }
  });
});

test('keys that are not sent stay, unknown keys are ignored', () => {
  const before = merged({ font: 'serif', textColor: 'navy' });
  expect(mergeTheme(before, { textColor: 'teal', constructor: 'x', zoom: 2 })).toEqual({
    ...DEFAULT_THEME,
    font: 'serif',
    textColor: 'teal',
  });
});

test.each([
  ['https://cdn.example/früh.jpg', 'https://cdn.example/fr%C3%BCh.jpg'],
  ['https://bücher.example/{a}', 'https://xn--bcher-kva.example/%7Ba%7D'],
  ['https://cdn.example', 'https://cdn.example/'],
])('an image at %s is drawn, though its escaped URL is longer', (canvasValue, drawn) => {
  const theme = merged({ canvasMode: 'image', canvasValue });
  expect(theme.canvasValue).toBe(canvasValue);
  expect(paletteOf(theme).canvas.image).toContain(`url("${drawn}")`);
});
