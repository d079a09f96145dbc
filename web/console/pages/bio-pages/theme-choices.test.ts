import { expect, test } from 'vitest';
import { GRADIENTS } from '../../../../core/bio/gradients.ts';
import { PLATFORM_NAMES } from '../../../../core/bio/icons.ts';
import {
  BUTTON_RADII,
  BUTTON_SHADOWS,
  BUTTON_STYLES,
  CANVAS_MODES,
  CARD_MODES,
  DEFAULT_THEME,
  FONTS,
  mergeTheme,
} from '../../../../core/bio/theme.ts';
import * as offered from './theme-choices.ts';

test.each([
  ['canvases', offered.CANVAS_MODES, CANVAS_MODES],
  ['cards', offered.CARD_MODES, CARD_MODES],
  ['styles of buttons', offered.BUTTON_STYLES, BUTTON_STYLES],
  ['corners of buttons', offered.BUTTON_RADII, BUTTON_RADII],
  ['shadows of buttons', offered.BUTTON_SHADOWS, BUTTON_SHADOWS],
  ['fonts', offered.FONTS, FONTS],
])('the editor offers exactly the %s of the API', (_, choices, values) => {
  expect(choices.map((choice) => choice.value)).toEqual([...values]);
});

test('the editor paints every gradient like the public page', () => {
  const painted = offered.GRADIENTS.map(({ name, angle, stops }) => [name, { angle, stops }]);
  expect(Object.fromEntries(painted)).toEqual(GRADIENTS);
});

test('every ready look is a theme that the API takes as it is', () => {
  expect(offered.LOOKS).toHaveLength(6);
  for (const { name, theme } of offered.LOOKS) {
    expect([name, mergeTheme(DEFAULT_THEME, theme)]).toEqual([name, { ...theme, footerImage: null }]);
  }
});

test('the editor names every platform like the public page', () => {
  const named = Object.fromEntries(offered.PLATFORMS.map(({ value, label }) => [value, label]));
  // A page writes this one in its language.
  expect(named).toEqual({ ...PLATFORM_NAMES, email: 'Email' });
});
