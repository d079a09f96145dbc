import type { Static } from 'typebox';
import { badRequest } from '../../core/errors.ts';
import { checkAll } from '../../core/faults.ts';
import { cssColor, readColor, requireContrast } from '../../core/qr/colors.ts';
import { logoUrl, readLogo } from '../../core/qr/logo.ts';
import { frameWords } from '../../core/qr/words.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import type { LinkQrStyle } from '../../sql/links/qr-styles.ts';
import { workspaceLogo } from '../../sql/workspaces/logos.ts';
import { PLAIN_STYLE, type QrStyleChange, type QrStyleRecord } from './qr-schemas.ts';

/** Returns a style as the API shows it. */
export function qrStyleRecord(style: LinkQrStyle): Static<typeof QrStyleRecord> {
  const { logo_from, logo, ...look } = style;
  return {
    ...look,
    logo: logo === null ? (logo_from === 'workspace' ? 'workspace' : 'none') : logoUrl(logo),
  };
}

/** Checks what does not depend on the style before. @throws {AppError} `bad_request` that names every fault */
export function checkQrChange(change: Static<typeof QrStyleChange>): void {
  const { color, background, frame_text: text, logo } = change;
  checkAll([
    () => color !== undefined && readColor('color', color),
    () => background !== undefined && readColor('background', background),
    () => text !== undefined && frameWords(text),
    () => logo !== undefined && logo !== 'none' && logo !== 'workspace' && readOwnLogo(logo),
  ]);
}

/**
 * Returns a style with changes.
 *
 * @throws {AppError} `bad_request` that names the field at fault
 */
export async function changedQrStyle(
  db: Queryable,
  workspaceId: string,
  before: LinkQrStyle,
  { logo, ...changes }: Static<typeof QrStyleChange>,
): Promise<LinkQrStyle> {
  const style = { ...before, ...changes };
  const [color, background] = [
    readColor('color', style.color),
    readColor('background', style.background),
  ] as const;
  const isColorSent = changes.color !== undefined && style.color !== PLAIN_STYLE.color;
  requireContrast(isColorSent ? 'color' : 'background', color, background);
  if (changes.frame_text !== undefined) frameWords(changes.frame_text);
  return {
    ...style,
    ...(await logoOf(db, workspaceId, before, logo)),
    color: cssColor(color).slice(1),
    background: cssColor(background).slice(1),
  };
}

async function logoOf(
  db: Queryable,
  workspaceId: string,
  before: LinkQrStyle,
  logo: string | undefined,
): Promise<Pick<LinkQrStyle, 'logo_from' | 'logo'>> {
  if (logo === undefined) return { logo_from: before.logo_from, logo: before.logo };
  if (logo === 'none') return { logo_from: 'none', logo: null };
  if (logo !== 'workspace') return { logo_from: 'own', logo: readOwnLogo(logo) };
  await requireWorkspaceLogo(db, workspaceId, 'none, or a PNG of its own');
  return { logo_from: 'workspace', logo: null };
}

function readOwnLogo(logo: string): Buffer {
  if (logo.startsWith('data:')) return readLogo(logo);
  throw badRequest('logo', 'must be none, workspace, or a PNG as data:image/png;base64,…');
}

/**
 * @param instead what a caller may send
 * @throws {AppError} `bad_request` that names `logo` when the workspace has none
 */
export async function requireWorkspaceLogo(
  db: Queryable,
  workspaceId: string,
  instead: string,
): Promise<Buffer> {
  const logo = await workspaceLogo(db, workspaceId);
  if (logo) return logo;
  throw badRequest(
    'logo',
    `must be ${instead}: the workspace has no logo; set one with PATCH /api/v1/workspace`,
  );
}
