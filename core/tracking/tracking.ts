/**
 * How a workspace tells visitors apart. `full`: by a cookie, and by `_vid` on the destination. `cookieless`: by a hash
 * of address, user agent, workspace and a salt of the day; nothing is kept on the device. `none`: each click is a
 * visitor of its own.
 */
export const TRACKINGS = ['full', 'cookieless', 'none'] as const;
export type Tracking = (typeof TRACKINGS)[number];
