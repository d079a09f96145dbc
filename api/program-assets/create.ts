import { pictureAt, storedImage } from '../../core/bio/pictures.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { readAll, readEach } from '../../core/faults.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { BlockedDomains } from '../../core/links/blocked-domains.ts';
import { refuseBlockedDomain } from '../../core/links/destinations.ts';
import { requireWebUrl } from '../../core/links/web-urls.ts';
import { ASSET_FIELDS, MOST_ASSETS } from '../../core/referrals/assets.ts';
import { touchPictures } from '../../sql/bio/pictures.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { type AssetContent, countAssets, insertAsset } from '../../sql/portal/assets.ts';
import { programById } from '../../sql/referrals/programs.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import { noSuchProgram } from '../referrals/programs/service.ts';
import { ASSET_URL_LIMIT, type AssetBody } from './schemas.ts';

/** `publicUrl`: origin of uploaded pictures. */
export type AssetRules = { publicUrl: string; blockedDomains?: BlockedDomains | undefined };

/**
 * Returns what an asset has.
 *
 * @param faulty fields that are left out because of a fault
 * @returns null when its own field is faulty
 * @throws {AppError} `bad_request` that names every fault
 */
export function readContent(
  body: Pick<AssetBody, 'type' | 'image_url' | 'text' | 'url'>,
  { publicUrl, blockedDomains }: AssetRules,
  faulty: ReadonlySet<string> = new Set(),
): AssetContent | null {
  const { type } = body;
  const { content } = readAll({
    strange: () =>
      readEach(Object.entries(ASSET_FIELDS), ([other, field]) => {
        if (other !== type && body[field] !== undefined)
          throw badRequest(field, `is for assets of type ${other}`);
      }),
    content: (): AssetContent | null => {
      const { image_url, text, url } = body;
      const field = ASSET_FIELDS[type];
      if (faulty.has(field)) return null;
      if (body[field] === undefined) throw badRequest(field, `is required for type ${type}`);
      if (type === 'text') return { type, text: text ?? '' };
      if (type === 'image') {
        const picture = pictureAt(storedImage(image_url ?? '', publicUrl));
        if (picture === null) throw noPicture();
        return { type, pictureName: picture.name };
      }
      const address = url ?? '';
      requireWebUrl('url', address, ASSET_URL_LIMIT);
      refuseBlockedDomain('url', address, blockedDomains);
      return { type, url: new URL(address).href };
    },
  });
  return content;
}

const noPicture = () =>
  badRequest(
    'image_url',
    'must be the address of a picture of the workspace: upload it by POST /assets/pictures',
  );

/**
 * Creates an asset of a program.
 *
 * @returns its id
 * @throws {AppError} `not_found` for a program of another workspace; `bad_request` for a picture that the workspace has
 *   not uploaded, or that was deleted; `conflict` when the program has the most that it may have
 */
export async function createAsset(
  tx: Queryable,
  workspaceId: string,
  { program_id: programId, name }: AssetBody,
  content: AssetContent,
  now: Date,
): Promise<string> {
  if (!(await programById(tx, workspaceId, programId))) throw noSuchProgram();
  // Concurrent calls follow each other, so that all of them count.
  await lockWorkspace(tx, workspaceId);
  if ((await countAssets(tx, programId)) >= MOST_ASSETS) {
    const message = `has ${MOST_ASSETS} assets, the most: delete one first`;
    throw new AppError('conflict', `the program of \`program_id\` ${message}`, [
      { path: 'program_id', message },
    ]);
  }
  if (content.type === 'image') {
    const kept = await touchPictures(tx, workspaceId, [content.pictureName]);
    if (kept.length === 0) throw noPicture();
  }
  const id = uuidv7();
  await insertAsset(tx, { id, workspaceId, programId, name, content, now });
  return id;
}
