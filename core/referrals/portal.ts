// Browsers run this file too.

/** The affiliates' portal of a program, as its owner sets it. */

/** `none`: an application is approved at once. `manual`: it waits for a member or a key. */
export const PORTAL_REVIEWS = ['none', 'manual'] as const;
export type PortalReview = (typeof PORTAL_REVIEWS)[number];

/** A question of the application, besides name and email. */
export type PortalField = { name: string; label: string; required: boolean };

/** A program has terms of its own at an address, as a text, or none. */
export type Portal = {
  /** Whether the page takes applications. */
  is_open: boolean;
  review: PortalReview;
  fields: PortalField[];
  terms_url: string | null;
  terms_text: string | null;
  /** Another one whenever the terms change; null: no terms. */
  terms_version: string | null;
  welcome_text: string | null;
  /** Whether affiliates make links to pages below the destination. */
  deep_links: boolean;
};

/** The portal of a new program. */
export const CLOSED_PORTAL: Portal = {
  is_open: false,
  review: 'manual',
  fields: [],
  terms_url: null,
  terms_text: null,
  terms_version: null,
  welcome_text: null,
  deep_links: false,
};

export const APPLICATION_STATUSES = ['pending', 'approved', 'rejected'] as const;
export type ApplicationStatus = (typeof APPLICATION_STATUSES)[number];

/** Begins the id of a user whom an approved application made. */
export const PORTAL_USER = 'portal:';
