import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accentColors, contrast } from './accent.ts';

const READABLE = 4.5;
const CSS = readFileSync(new URL('./styles/colors.css', import.meta.url), 'utf8');

test('computes contrast as WCAG defines it', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect(contrast('#ffffff', '#777777')).toBeCloseTo(4.48, 2);
});

test('makes any accent readable on every surface of its theme, and the text on it', () => {
  /** The surfaces in the style sheet. */
  const surfaces = (theme: 'light' | 'dark') => {
    const block =
      CSS.split(theme === 'light' ? ':root {' : /:root\[data-theme=.dark.\] \{/)[1]?.split('}')[0] ?? '';
    return ['ground', 'card', 'sunken'].map(
      (name) => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(block)?.[1] ?? 'none',
    );
  };
  const color = fc.integer({ min: 0, max: 0xffffff }).map((rgb) => `#${rgb.toString(16).padStart(6, '0')}`);
  fc.assert(
    fc.property(color, fc.constantFrom('light' as const, 'dark' as const), (accent, theme) => {
      const { fill, onFill, text } = accentColors(accent, theme);
      expect(fill).toBe(accent);
      expect(contrast(onFill, fill)).toBeGreaterThanOrEqual(READABLE);
      for (const surface of surfaces(theme)) {
        expect(contrast(text, surface), `${text} on ${surface}`).toBeGreaterThanOrEqual(READABLE);
      }
    }),
  );
});

test('keeps a readable accent', () => {
  expect(accentColors('#4f46e5', 'light')).toEqual({ fill: '#4f46e5', onFill: '#ffffff', text: '#4f46e5' });
});
