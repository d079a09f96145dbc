import type { QrFrame } from '../../core/qr/frames.ts';
import type { QrShape } from '../../core/qr/layout.ts';
import type { Queryable } from '../database/pool.ts';

/** How the QR code of a link looks. Colors are six hexadecimal digits. */
export type LinkQrStyle = {
  color: string;
  background: string;
  shape: QrShape;
  frame: QrFrame;
  frame_text: string;
  logo_from: 'none' | 'workspace' | 'own';
  /** The link's own, a PNG. */
  logo: Buffer | null;
};

/** Returns how the QR code of a link looks; null: plain. */
export async function linkQrStyle(
  db: Queryable,
  workspaceId: string,
  linkId: string,
): Promise<LinkQrStyle | null> {
  const { rows } = await db.query<LinkQrStyle>(
    `SELECT color, background, shape, frame, frame_text, logo_from, logo
     FROM link_qr_styles WHERE workspace_id = $1 AND link_id = $2`,
    [workspaceId, linkId],
  );
  return rows[0] ?? null;
}

/** Stores how the QR code of a link of the workspace looks. */
export async function setLinkQrStyle(
  tx: Queryable,
  workspaceId: string,
  linkId: string,
  style: LinkQrStyle,
): Promise<void> {
  await tx.query(
    `INSERT INTO link_qr_styles (link_id, workspace_id, color, background, shape, frame, frame_text, logo_from, logo)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (link_id) DO UPDATE SET color = $3, background = $4, shape = $5, frame = $6, frame_text = $7,
       logo_from = $8, logo = $9`,
    [
      linkId,
      workspaceId,
      style.color,
      style.background,
      style.shape,
      style.frame,
      style.frame_text,
      style.logo_from,
      style.logo,
    ],
  );
}
