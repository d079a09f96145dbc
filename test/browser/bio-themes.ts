import { GRADIENTS } from '../../core/bio/gradients.ts';
import type { Theme } from '../../core/bio/theme.ts';

/**
 * Themes that together use every value of every key, and colors that are unreadable where they are used.
 *
 * @param photo URL of an image
 */
export function everyTheme(photo: string): Record<string, Partial<Theme>> {
  const gradients = Object.keys(GRADIENTS).map((name, index): [string, Partial<Theme>] => {
    const buttonStyle = (['fill', 'soft', 'outline'] as const)[index % 3];
    const dark = index >= 7;
    return [
      `gradient-${name}`,
      {
        canvasMode: 'gradient',
        canvasValue: name,
        buttonStyle,
        textColor: dark ? '#ffffff' : '#1f2937',
        buttonColor: dark ? '#ffffff' : '#1f2937',
        buttonTextColor: dark ? '#111827' : '#ffffff',
        buttonRadius: (['full', 'lg', 'md'] as const)[index % 3],
      },
    ];
  });
  return {
    default: {},
    ...Object.fromEntries(gradients),
    'glass-on-sunset': {
      canvasMode: 'gradient',
      canvasValue: 'sunset',
      cardMode: 'glass',
      cardBg: '#ffffff',
      buttonColor: '#9d2a63',
      buttonRadius: 'lg',
      font: 'humanist',
      footerImage: photo,
    },
    'dark-glass-on-photo': {
      canvasMode: 'image',
      canvasValue: photo,
      cardMode: 'glass',
      cardBg: '#0b1020',
      textColor: '#ffffff',
      buttonColor: '#ffffff',
      buttonTextColor: '#0b1020',
      buttonRadius: 'full',
      font: 'geometric',
    },
    'photo-light-text': {
      canvasMode: 'image',
      canvasValue: photo,
      textColor: '#ffffff',
      buttonStyle: 'soft',
      buttonColor: '#ffffff',
      font: 'rounded',
    },
    'photo-dark-text': {
      canvasMode: 'image',
      canvasValue: photo,
      buttonStyle: 'outline',
      buttonRadius: 'none',
      font: 'mono',
    },
    'solid-card-hard-shadow': {
      canvasValue: '#fde047',
      cardMode: 'solid',
      buttonStyle: 'fill',
      buttonColor: '#ffffff',
      buttonTextColor: '#111111',
      buttonRadius: 'none',
      buttonShadow: 'hard',
      font: 'mono',
    },
    'soft-shadow-serif': {
      canvasValue: '#f4efe6',
      textColor: '#3d2c1e',
      buttonColor: '#7a4b2a',
      buttonShadow: 'soft',
      buttonShadowColor: '#7a4b2a',
      buttonRadius: 'sm',
      font: 'serif',
    },
    'dark-outline-slab': {
      canvasValue: '#0b0f19',
      textColor: '#e5e7eb',
      buttonStyle: 'outline',
      buttonColor: '#5eead4',
      buttonRadius: 'full',
      buttonShadow: 'hard',
      buttonShadowColor: '#134e4a',
      font: 'slab',
    },
    'soft-condensed': {
      canvasValue: '#eef2ff',
      textColor: '#1e1b4b',
      buttonStyle: 'soft',
      buttonColor: '#4338ca',
      buttonShadow: 'soft',
      buttonShadowColor: '#4338ca',
      font: 'condensed',
    },
    'unreadable-colors': {
      canvasValue: '#fef08a',
      textColor: '#ffffff',
      buttonColor: '#facc15',
      buttonTextColor: '#ffffff',
      cardMode: 'solid',
      cardBg: 'rgba(255, 255, 255, 0.4)',
    },
    'unreadable-outline': {
      canvasValue: 'black',
      textColor: '#333',
      buttonStyle: 'outline',
      buttonColor: 'navy',
    },
  };
}
