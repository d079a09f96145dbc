// Browsers run this file too.
/** Where clicks are imported from. */
export const CLICK_SOURCES = ['csv', 'shlink', 'yourls', 'kutt', 'plausible', 'matomo'] as const;
export type ClickSource = (typeof CLICK_SOURCES)[number];
