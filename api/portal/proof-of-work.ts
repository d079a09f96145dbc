import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { badRequest } from '../../core/errors.ts';
import type { HashKey } from '../session/hash-key.ts';

/** Zero bits that the SHA-256 of `<challenge>:<nonce>` begins with: about 65,000 tries. */
const WORK_BITS = 16;
/** How long a challenge can be used. Seconds. */
const LASTS_SECONDS = 3_600;

const CHALLENGE = /^([0-9a-z]{6,9}\.[A-Za-z0-9_-]{12})\.([A-Za-z0-9_-]{16})$/;

/** A task that takes a browser a moment, and somebody who sends many applications long. */
export type Challenge = { challenge: string; bits: number; expires_at: string };

/** Makes and checks challenges. Nothing is stored for one before it is spent. @param key of the deployment */
export function createWork(key: HashKey) {
  const signatureOf = async (text: string) =>
    createHmac('sha256', await key())
      .update(`portal challenge ${text}`)
      .digest('base64url')
      .slice(0, 16);
  return {
    async create(now: Date): Promise<Challenge> {
      const ends = Math.floor(now.getTime() / 1_000) + LASTS_SECONDS;
      const text = `${ends.toString(36)}.${randomBytes(9).toString('base64url')}`;
      return {
        challenge: `${text}.${await signatureOf(text)}`,
        bits: WORK_BITS,
        expires_at: new Date(ends * 1_000).toISOString(),
      };
    },
    /**
     * Returns the SHA-256 of a solved challenge, by which it is spent.
     *
     * @throws {AppError} `bad_request` when it is not one of this deployment, has ended, or is not solved
     */
    async check({ challenge, nonce }: { challenge: string; nonce: string }, now: Date): Promise<Buffer> {
      const [, text = '', signature = ''] = CHALLENGE.exec(challenge) ?? [];
      const expected = Buffer.from(await signatureOf(text));
      const given = Buffer.from(signature.padEnd(16));
      if (text === '' || !timingSafeEqual(given, expected))
        throw badRequest('challenge', 'must be one of POST /portal/challenges');
      if (Number.parseInt(text, 36) * 1_000 < now.getTime())
        throw badRequest('challenge', 'has ended; get another one');
      if (zeroBitsOf(sha256(`${challenge}:${nonce}`)) < WORK_BITS)
        throw badRequest(
          'nonce',
          `must make the SHA-256 of "<challenge>:<nonce>" begin with ${WORK_BITS} zero bits`,
        );
      return sha256(challenge);
    },
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

function zeroBitsOf(hash: Buffer): number {
  const bytes = hash.findIndex((byte) => byte !== 0);
  return bytes < 0 ? hash.length * 8 : bytes * 8 + Math.clz32(hash[bytes] ?? 0) - 24;
}
