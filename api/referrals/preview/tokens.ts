import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HashKey } from '../../session/hash-key.ts';

/** How long a preview shows its referrer. Seconds. */
const LIFE_SECONDS = 15 * 60;
const TOKEN = /^pv_([0-9a-f-]{36})_([0-9a-f-]{36})_(\d{1,12})_([A-Za-z0-9_-]{43})$/;

export type PreviewedReferrer = { workspaceId: string; partnerId: string };

/** Tokens that read one referrer's dashboard for some minutes, and can change nothing. None is stored. */
export function createPreviewTokens(key: HashKey) {
  const signatureOf = async ({ workspaceId, partnerId }: PreviewedReferrer, ends: string): Promise<Buffer> =>
    createHmac('sha256', await key())
      .update(`referral preview ${workspaceId} ${partnerId} ${ends}`)
      .digest();

  return {
    async create(referrer: PreviewedReferrer, now: Date): Promise<{ token: string; expiresAt: Date }> {
      const ends = Math.floor(now.getTime() / 1_000) + LIFE_SECONDS;
      const signature = (await signatureOf(referrer, String(ends))).toString('base64url');
      const { workspaceId, partnerId } = referrer;
      return {
        token: `pv_${workspaceId}_${partnerId}_${ends}_${signature}`,
        expiresAt: new Date(ends * 1_000),
      };
    },
    /** Returns the referrer of a token; null when it is not one of ours, or has ended. */
    async read(token: string, now: Date): Promise<PreviewedReferrer | null> {
      const [, workspaceId = '', partnerId = '', ends = '', given = ''] = TOKEN.exec(token) ?? [];
      if (Number(ends) * 1_000 <= now.getTime()) return null;
      const referrer = { workspaceId, partnerId };
      const isOurs = timingSafeEqual(Buffer.from(given, 'base64url'), await signatureOf(referrer, ends));
      return isOurs ? referrer : null;
    },
  };
}
