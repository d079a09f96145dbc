import type { Retargeting } from '../../sql/links/link-settings.ts';

/** Pixel ids of each platform. A page of ours contains them, so no character may close a string or a tag. */
export const PIXEL_IDS: Record<keyof Retargeting, RegExp> = {
  facebook: /^\d{5,20}$/,
  google: /^(?:AW|DC)-\d{6,14}$|^(?:G|GT)-[A-Z0-9]{6,14}$|^UA-\d{4,12}-\d{1,4}$/,
  tiktok: /^[A-Z0-9]{10,32}$/,
  linkedin: /^\d{3,12}$/,
  x: /^[a-z0-9]{4,12}$/,
  pinterest: /^\d{8,20}$/,
};
