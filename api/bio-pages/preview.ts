import type { PublicPage } from '../../core/bio/public-page.ts';
import { type Origins, type RenderedBioPage, renderBioPage } from '../../core/bio/render.ts';
import { DEFAULT_THEME, mergeTheme } from '../../core/bio/theme.ts';
import { DEFAULT_LANGUAGE, type Language } from '../../core/languages/languages.ts';
import { normalizeBioSlug } from '../../core/links/slugs.ts';
import { readPageRequest } from './page-request.ts';
import type { PreviewBody } from './schemas.ts';

/** Shown instead of the slug of a page without a title while it has no slug. */
const NAMELESS = 'your-page';

/**
 * Renders the public page of a body, with the renderer of the public pages. Nothing is looked up or stored:
 * buttons link straight to their URLs.
 *
 * @param workspaceLanguage of visitors' pages; null: each visitor's own, for which English is shown
 * @throws {AppError} `bad_request` as creating the page would
 */
export function previewPage(
  body: PreviewBody,
  origins: Origins,
  workspaceLanguage: Language | null,
): RenderedBioPage {
  const { slug, ...rest } = body;
  const wanted = readPageRequest(rest, origins);
  const page: PublicPage = {
    title: wanted.title ?? '',
    bio: wanted.bio ?? '',
    avatar_url: wanted.avatar_url ?? null,
    avatar_width: wanted.avatar_width ?? null,
    avatar_height: wanted.avatar_height ?? null,
    theme: mergeTheme(DEFAULT_THEME, wanted.theme ?? {}),
    show_branding: wanted.show_branding ?? true,
    language: wanted.language ?? null,
    social_links: wanted.social_links ?? [],
    buttons: (wanted.buttons ?? []).map(({ type, label, url, emoji, image_url }) => ({
      type,
      label,
      url,
      emoji,
      image_url,
      slug: null,
      domain: null,
    })),
  };
  const chosen = page.language ?? workspaceLanguage;
  const language = { chosen, ofVisitor: DEFAULT_LANGUAGE };
  return renderBioPage(normalizeBioSlug(slug ?? '') || NAMELESS, page, origins, language);
}

/** The preview's Content-Security-Policy: framed by the console only, without scripts or forms. */
export function previewPolicy(policy: string): string {
  return `${policy}; frame-ancestors 'self'; sandbox`;
}
