// Browsers run this file too.

/** Kinds of assets that a program gives its affiliates. */
export const ASSET_TYPES = ['image', 'text', 'link'] as const;
/** Assets of one program: the portal shows them on one page. */
export const MOST_ASSETS = 100;
export type AssetType = (typeof ASSET_TYPES)[number];
/** The field of an asset that has its content. */
export const ASSET_FIELDS = {
  image: 'image_url',
  text: 'text',
  link: 'url',
} as const satisfies Record<AssetType, string>;
