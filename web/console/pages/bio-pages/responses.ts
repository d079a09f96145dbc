import type { ResponseOf } from '../../api/responses.ts';

export type BioPage = ResponseOf<'/bio-pages/{id}'>;
export type BioPageList = ResponseOf<'/bio-pages'>;
export type BioButton = BioPage['links'][number];
export type SocialLink = BioPage['social_links'][number];
export type Theme = BioPage['theme'];

export type PageStats = ResponseOf<'/bio-pages/{id}/stats'>;
export type ButtonFigures = PageStats['links'][number];
/** With a `slug` in the query. */
export type Availability = Extract<ResponseOf<'/bio-pages/availability'>, { available: boolean }>;
