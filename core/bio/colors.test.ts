import { describe, expect, test } from 'vitest';
import { contrast, cssOf, luminance, over, parseColor, READABLE, readableOn } from './colors.ts';
import { GRADIENTS } from './gradients.ts';

const color = (text: string) => {
  const parsed = parseColor(text);
  if (!parsed) throw new Error(text);
  return parsed;
};

describe('parseColor', () => {
  test.each([
    ['#fff', 'rgb(255 255 255)'],
    ['#0f08', 'rgb(0 255 0 / 0.533)'],
    ['#123456', 'rgb(18 52 86)'],
    ['#12345680', 'rgb(18 52 86 / 0.502)'],
    [' RED ', 'rgb(255 0 0)'],
    ['rebeccapurple', 'rgb(102 51 153)'],
    ['transparent', 'rgb(0 0 0 / 0)'],
    ['rgb(1,2,3)', 'rgb(1 2 3)'],
    ['rgb(1 2 3 / 50%)', 'rgb(1 2 3 / 0.5)'],
    ['rgba(1, 2, 3, .5)', 'rgb(1 2 3 / 0.5)'],
    ['rgb(100%, 0%, 50%)', 'rgb(255 0 128)'],
    ['hsl(120, 100%, 50%)', 'rgb(0 255 0)'],
    ['hsl(-120deg 100% 50%)', 'rgb(0 0 255)'],
    ['hsla(0, 0%, 50%, 0.25)', 'rgb(128 128 128 / 0.25)'],
    ['rgb(999, -5, 0)', 'rgb(255 0 0)'],
  ])('%s is %s', (text, css) => {
    expect(cssOf(color(text))).toBe(css);
  });

  test.each([
    '',
    'reddish',
    '#12',
    '#12345',
    '#ggg',
    'rgb(1,2)',
    'rgb(1,2,3,4,5)',
    'rgb(1%,2,3)',
    'hsl(10,20,30)',
    'url(x)',
    'red;}',
    'rgb(1,2,3);}',
    'var(--x)',
    'expression(1)',
    `#fff${' '.repeat(70)}`,
    'constructor',
  ])('%j is not a color', (text) => {
    expect(parseColor(text)).toBeNull();
  });
});

test('contrast and luminance are those of WCAG 2', () => {
  const [black, white, grey] = ['black', 'white', '#777'].map(color);
  if (!black || !white || !grey) throw new Error('colors');
  expect(luminance(white)).toBe(1);
  expect(contrast(black, [white])).toBeCloseTo(21, 5);
  expect(contrast(grey, [white])).toBeCloseTo(4.478, 3);
  expect(cssOf(over(color('#00000080'), white))).toBe('rgb(127 127 127)');
});

test('every single background has a readable text color, and a readable one is unchanged', () => {
  for (let shade = 0; shade <= 255; shade++) {
    const ground = { r: shade, g: shade, b: shade, a: 1 };
    const text = readableOn([ground], ground);
    expect(contrast(text, [ground])).toBeGreaterThanOrEqual(READABLE);
  }
  const navy = color('navy');
  expect(readableOn([color('white')], navy)).toBe(navy);
});

test.each(Object.entries(GRADIENTS))(
  'the gradient %s has a text color that is readable everywhere',
  (_, { stops }) => {
    const grounds = stops.map(color);
    expect(contrast(readableOn(grounds, color('#888')), grounds)).toBeGreaterThanOrEqual(READABLE);
  },
);
