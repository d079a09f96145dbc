/** A named canvas: its direction and colors, all of which suit either near-black or white text. */
export type Gradient = { angle: number; stops: readonly string[] };

/** Every gradient that a theme may name. Names are permanent: pages are stored with them. */
export const GRADIENTS = {
  dawn: { angle: 160, stops: ['#ffe3ec', '#ffd6c2', '#fff3d6'] },
  peach: { angle: 150, stops: ['#ffecd2', '#fcb69f'] },
  candy: { angle: 150, stops: ['#fbc2eb', '#a6c1ee'] },
  mint: { angle: 150, stops: ['#d4fc79', '#96e6a1'] },
  sky: { angle: 170, stops: ['#e0f2fe', '#bae6fd', '#a5d8ff'] },
  lavender: { angle: 155, stops: ['#ede9fe', '#ddd6fe', '#fbcfe8'] },
  sand: { angle: 165, stops: ['#fdfbf7', '#efe3d0'] },
  sunset: { angle: 160, stops: ['#4a1d5e', '#9d2a63', '#c2410c'] },
  ocean: { angle: 160, stops: ['#0b3c5d', '#0e5a7d', '#136f7e'] },
  forest: { angle: 160, stops: ['#0f2e22', '#14532d', '#276749'] },
  berry: { angle: 150, stops: ['#3b0764', '#86198f', '#be185d'] },
  aurora: { angle: 155, stops: ['#0f172a', '#134e4a', '#3730a3'] },
  midnight: { angle: 165, stops: ['#0f172a', '#1e1b4b', '#020617'] },
  graphite: { angle: 165, stops: ['#2b2d31', '#121315'] },
} as const satisfies Record<string, Gradient>;

export type GradientName = keyof typeof GRADIENTS;

/** Returns the gradient of this name, or null. */
export function gradientNamed(name: string): Gradient | null {
  return Object.hasOwn(GRADIENTS, name) ? GRADIENTS[name as GradientName] : null;
}
