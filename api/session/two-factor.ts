import { createHash, randomBytes } from 'node:crypto';
import { generateSecret, generateURI, verifySync } from 'otplib';
import { AppError } from '../../core/errors.ts';
import {
  acceptCode,
  countWrongCode,
  lockApp,
  replaceRecoveryCodes,
  setUpApp,
  takeRecoveryCode,
} from '../../sql/console/two-factor.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/database/pool.ts';

const ISSUER = 'Hoplog';
/** Clocks of phones differ: the step before and the one after count too (RFC 6238, section 5.2). Seconds. */
const TOLERANCE = 30;
/** Consecutive wrong codes after which only a recovery code counts (NIST SP 800-63B, 5.2.2). */
const MOST_WRONG = 100;
const RECOVERY_CODES = 10;
/** 80 bits, so that even a fast hash of a code can't be searched. */
const RECOVERY_BYTES = 10;
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz234567890'; // without i, l, o and 1

export type SecondFactor = 'app' | 'recovery_code';

/**
 * Starts an enrollment with a secret, which takes effect once {@link confirmApp} got a code of it. @throws {AppError}
 * `conflict`
 */
export async function beginApp(
  pool: Pool,
  { email, ...member }: { workspaceId: string; memberId: string; email: string },
): Promise<{ secret: string; uri: string }> {
  const secret = generateSecret();
  if (!(await setUpApp(pool, { ...member, secret }))) {
    throw new AppError('conflict', 'two-factor sign-in is on; turn it off first to use another app');
  }
  return { secret, uri: generateURI({ issuer: ISSUER, label: email, secret }) };
}

/**
 * Confirms the app by one of its codes. Returns false for a wrong code. @throws {AppError} `conflict` without an app
 */
export async function confirmApp(tx: PoolClient, memberId: string, code: string): Promise<boolean> {
  const app = await lockApp(tx, memberId);
  if (!app) throw new AppError('conflict', 'get a secret for your authenticator app first');
  if (app.confirmed_at) throw new AppError('conflict', 'two-factor sign-in is on already');
  const step = stepOf(app.secret, code, null);
  if (step === null) return false;
  await acceptCode(tx, memberId, step);
  return true;
}

/**
 * Checks a code of the member's app, or a recovery code, and uses it up: each works once. Returns the kind of the code,
 * or null for a wrong one, which is counted.
 */
export function checkSecondFactor(pool: Pool, memberId: string, code: string): Promise<SecondFactor | null> {
  return inTransaction(pool, async (tx) => {
    const app = await lockApp(tx, memberId);
    if (!app?.confirmed_at) return null;
    const step = app.wrong_codes < MOST_WRONG ? stepOf(app.secret, code, app.last_step) : null;
    if (step !== null) {
      await acceptCode(tx, memberId, step);
      return 'app';
    }
    if (await takeRecoveryCode(tx, memberId, hashRecoveryCode(code))) return 'recovery_code';
    await countWrongCode(tx, memberId);
    return null;
  });
}

/** Creates the member's recovery codes in place of earlier ones. They can't be read again. */
export async function makeRecoveryCodes(
  tx: PoolClient,
  member: { workspaceId: string; memberId: string },
): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await replaceRecoveryCodes(tx, { ...member, hashes: codes.map(hashRecoveryCode) });
  return codes;
}

/** Returns the time step of a right code later than `after`, or null. */
function stepOf(secret: string, code: string, after: number | null): number | null {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const result = verifySync({
    secret,
    token,
    epochTolerance: TOLERANCE,
    ...(after !== null && { afterTimeStep: after }),
  });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}

function newRecoveryCode(): string {
  let bits = BigInt(`0x${randomBytes(RECOVERY_BYTES).toString('hex')}`);
  let text = '';
  for (let n = 0; n < (RECOVERY_BYTES * 8) / 5; n++) {
    text += ALPHABET[Number(bits % 32n)];
    bits /= 32n;
  }
  return text.replaceAll(/(.{4})(?=.)/g, '$1-');
}

const hashRecoveryCode = (code: string): Buffer =>
  createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest();
