import type { PublicPage } from '../../core/bio/public-page.ts';
import { type Origins, type RenderedBioPage, renderBioPage } from '../../core/bio/render.ts';
import { DEFAULT_THEME, mergeTheme } from '../../core/bio/theme.ts';
import { normalizeBioSlug } from '../../core/links/slugs.ts';
import { readPageRequest } from './page-request.ts';
import type { PreviewBody } from './schemas.ts';

/** What stands where a page without a title has its slug, while it has none either. */
const NAMELESS = 'your-page';

/**
 * The public page that a body would make, from the renderer of the public pages. Nothing is looked up or kept:
 * buttons lead straight to their URLs, as they have no short links here.
 *
 * @throws {AppError} `bad_request` as creating the page would
 */
export function previewPage(body: PreviewBody, origins: Origins): RenderedBioPage {
  const { slug, ...rest } = body;
  const wanted = readPageRequest(rest);
  const page: PublicPage = {
    title: wanted.title ?? '',
    bio: wanted.bio ?? '',
    avatar_url: wanted.avatar_url ?? null,
    theme: mergeTheme(DEFAULT_THEME, wanted.theme ?? {}),
    show_branding: wanted.show_branding ?? true,
    social_links: wanted.social_links ?? [],
    buttons: (wanted.buttons ?? []).map(({ type, label, url, emoji, image_url }) => ({
      type,
      label,
      url,
      emoji,
      image_url,
      slug: null,
    })),
  };
  return renderBioPage(normalizeBioSlug(slug ?? '') || NAMELESS, page, origins);
}

/** The page's own policy, in a frame of the console only, and with nothing in it that could run or submit. */
export function previewPolicy(policy: string): string {
  return `${policy}; frame-ancestors 'self'; sandbox`;
}
