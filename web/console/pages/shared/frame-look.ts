import { contrast } from '../../../embed/accent.ts';
import { hexOf, isColor } from '../../parts/css-colors.ts';

/** How the page that frames a shared dashboard wants it. Null: as without a frame. */
export type AskedLook = { theme: 'light' | 'dark' | null; background: string | null };

/** Reads the look from the query of the dashboard's URL; null for what is missing or invalid. */
export function askedLook(search: string): AskedLook {
  const query = new URLSearchParams(search);
  const theme = query.get('theme');
  const given = query.get('background')?.trim() ?? '';
  // A `#` would begin the URL's fragment, so colors come without it too.
  const background = [given, `#${given}`].find(isColor) ?? null;
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : background === null ? null : themeOn(background),
    background,
  };
}

/** Returns the theme whose texts are readable on a background; null: that is up to the page behind it. */
function themeOn(background: string): 'light' | 'dark' | null {
  if (background.toLowerCase() === 'transparent') return null;
  const hex = hexOf(background);
  return contrast(hex, '#ffffff') > contrast(hex, '#000000') ? 'dark' : 'light';
}
