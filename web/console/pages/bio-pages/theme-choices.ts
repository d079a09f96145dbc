import type { SocialLink, Theme } from './responses.ts';

/** Values that a theme may have, with their labels. The same sets as the API's: a test compares them. */
export type Choice<Value extends string = string> = { value: Value; label: string };

/** The choice that a form field's text stands for. @throws RangeError for a text that no choice has */
export function chosenOf<Value extends string>(choices: readonly Choice<Value>[], text: string): Value {
  const choice = choices.find(({ value }) => value === text);
  if (!choice) throw new RangeError(`no choice has the value ${JSON.stringify(text)}`);
  return choice.value;
}

export const CANVAS_MODES: Choice<Theme['canvasMode']>[] = [
  { value: 'color', label: 'Color' },
  { value: 'gradient', label: 'Gradient' },
  { value: 'image', label: 'Picture' },
];

export const CARD_MODES: Choice<Theme['cardMode']>[] = [
  { value: 'none', label: 'None' },
  { value: 'solid', label: 'Solid' },
  { value: 'glass', label: 'Glass' },
];

export const BUTTON_STYLES: Choice<Theme['buttonStyle']>[] = [
  { value: 'fill', label: 'Filled' },
  { value: 'outline', label: 'Outline' },
  { value: 'soft', label: 'Soft' },
];

export const BUTTON_RADII: Choice<Theme['buttonRadius']>[] = [
  { value: 'none', label: 'Square' },
  { value: 'sm', label: 'Slight' },
  { value: 'md', label: 'Medium' },
  { value: 'lg', label: 'Large' },
  { value: 'full', label: 'Round' },
];

export const BUTTON_SHADOWS: Choice<Theme['buttonShadow']>[] = [
  { value: 'none', label: 'None' },
  { value: 'soft', label: 'Soft' },
  { value: 'hard', label: 'Hard' },
];

export const FONTS: Choice<Theme['font']>[] = [
  { value: 'system', label: 'System' },
  { value: 'serif', label: 'Serif' },
  { value: 'mono', label: 'Monospaced' },
  { value: 'rounded', label: 'Rounded' },
  { value: 'humanist', label: 'Humanist' },
  { value: 'geometric', label: 'Geometric' },
  { value: 'slab', label: 'Slab serif' },
  { value: 'condensed', label: 'Condensed' },
];

/** Ready looks: all of a theme but its image. */
export const LOOKS: { name: string; theme: Omit<Theme, 'footerImage'> }[] = [
  { name: 'Paper', theme: lookOf({ canvasValue: '#ffffff', textColor: '#111111', buttonColor: '#111111' }) },
  {
    name: 'Print',
    theme: lookOf({
      canvasValue: '#fdf6e3',
      textColor: '#1f1b16',
      buttonColor: '#fffdf7',
      buttonTextColor: '#1f1b16',
      buttonRadius: 'none',
      buttonShadow: 'hard',
      buttonShadowColor: '#1f1b16',
      font: 'mono',
    }),
  },
  {
    name: 'Dawn',
    theme: lookOf({
      canvasMode: 'gradient',
      canvasValue: 'dawn',
      textColor: '#4a1d2f',
      buttonColor: '#a3123f',
      buttonRadius: 'full',
      font: 'rounded',
    }),
  },
  {
    name: 'Ocean',
    theme: lookOf({
      canvasMode: 'gradient',
      canvasValue: 'ocean',
      cardMode: 'glass',
      cardBg: '#0b3c5d',
      textColor: '#ffffff',
      buttonColor: '#ffffff',
      buttonTextColor: '#0b3c5d',
      buttonRadius: 'lg',
      font: 'geometric',
    }),
  },
  {
    name: 'Forest',
    theme: lookOf({
      canvasMode: 'gradient',
      canvasValue: 'forest',
      textColor: '#f4f1e4',
      buttonStyle: 'outline',
      buttonColor: '#f4f1e4',
      buttonRadius: 'sm',
      font: 'serif',
    }),
  },
  {
    name: 'Midnight',
    theme: lookOf({
      canvasMode: 'gradient',
      canvasValue: 'midnight',
      textColor: '#f8fafc',
      buttonColor: '#facc15',
      buttonTextColor: '#111111',
      buttonRadius: 'md',
      buttonShadow: 'soft',
      font: 'humanist',
    }),
  },
];

function lookOf(theme: Partial<Theme> & Pick<Theme, 'canvasValue' | 'textColor' | 'buttonColor'>) {
  return {
    canvasMode: 'color' as const,
    cardMode: 'none' as const,
    cardBg: '#ffffff',
    buttonStyle: 'fill' as const,
    buttonTextColor: '#ffffff',
    buttonRadius: 'md' as const,
    buttonShadow: 'none' as const,
    buttonShadowColor: '#000000',
    font: 'system' as const,
    ...theme,
  };
}

/** How a gradient is painted. */
export const gradientOf = ({ angle, stops }: Pick<(typeof GRADIENTS)[number], 'angle' | 'stops'>): string =>
  `linear-gradient(${angle}deg, ${stops.join(', ')})`;

/** Angles in degrees, and colors. */
export const GRADIENTS: { name: string; angle: number; stops: string[] }[] = [
  { name: 'dawn', angle: 160, stops: ['#ffe3ec', '#ffd6c2', '#fff3d6'] },
  { name: 'peach', angle: 150, stops: ['#ffecd2', '#fcb69f'] },
  { name: 'candy', angle: 150, stops: ['#fbc2eb', '#a6c1ee'] },
  { name: 'mint', angle: 150, stops: ['#d4fc79', '#96e6a1'] },
  { name: 'sky', angle: 170, stops: ['#e0f2fe', '#bae6fd', '#a5d8ff'] },
  { name: 'lavender', angle: 155, stops: ['#ede9fe', '#ddd6fe', '#fbcfe8'] },
  { name: 'sand', angle: 165, stops: ['#fdfbf7', '#efe3d0'] },
  { name: 'sunset', angle: 160, stops: ['#4a1d5e', '#9d2a63', '#c2410c'] },
  { name: 'ocean', angle: 160, stops: ['#0b3c5d', '#0e5a7d', '#136f7e'] },
  { name: 'forest', angle: 160, stops: ['#0f2e22', '#14532d', '#276749'] },
  { name: 'berry', angle: 150, stops: ['#3b0764', '#86198f', '#be185d'] },
  { name: 'aurora', angle: 155, stops: ['#0f172a', '#134e4a', '#3730a3'] },
  { name: 'midnight', angle: 165, stops: ['#0f172a', '#1e1b4b', '#020617'] },
  { name: 'graphite', angle: 165, stops: ['#2b2d31', '#121315'] },
];

export const PLATFORMS: Choice<SocialLink['platform']>[] = [
  { value: 'instagram', label: 'Instagram' },
  { value: 'tiktok', label: 'TikTok' },
  { value: 'x', label: 'X' },
  { value: 'youtube', label: 'YouTube' },
  { value: 'spotify', label: 'Spotify' },
  { value: 'apple-music', label: 'Apple Music' },
  { value: 'facebook', label: 'Facebook' },
  { value: 'linkedin', label: 'LinkedIn' },
  { value: 'github', label: 'GitHub' },
  { value: 'twitch', label: 'Twitch' },
  { value: 'discord', label: 'Discord' },
  { value: 'email', label: 'Email' },
];
