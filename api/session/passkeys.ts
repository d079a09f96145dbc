import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  WebAuthnCredential,
} from '@simplewebauthn/server';
import { AppError, badRequest } from '../../core/errors.ts';
import type { Config } from '../../core/settings/config.ts';
import { consumeChallenge, insertChallenge } from '../../sql/console/passkey-challenges.ts';
import {
  listPasskeys,
  type Passkey,
  passkeyByCredential,
  recordPasskeyUse,
} from '../../sql/console/passkeys.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { isUnavailable } from '../plugins/database-errors.ts';

const NAME = 'Hoplog';

/** Loaded by the first passkey: its parsers of certificates would take a tenth of the API's start. */
const webAuthn = () => import('@simplewebauthn/server');

/** The owner of a new passkey. */
export type PasskeyOwner = { memberId: string; email: string | null; workspaceName: string };

/** The WebAuthn ceremonies. Challenges are stored in PostgreSQL and used once. */
export type Passkeys = {
  /** Returns the options of a new passkey. @throws {AppError} `conflict` when APP_URL allows no passkeys */
  creationOptions(owner: PasskeyOwner): Promise<Record<string, unknown>>;
  /**
   * Returns the new credential. @throws {AppError} `bad_request` when it does not match a challenge of this member
   */
  checkNew(memberId: string, answer: unknown): Promise<WebAuthnCredential & { transports: string[] }>;
  /** Returns the options of a sign-in with any passkey. @throws {AppError} `conflict` as above */
  signInOptions(): Promise<Record<string, unknown>>;
  /**
   * Returns the passkey that signed the challenge and records its use, or null when the signature is invalid.
   */
  checkSignIn(answer: unknown): Promise<Passkey | null>;
};

export function createPasskeys(pool: Pool, { appUrl }: Pick<Config, 'appUrl'>): Passkeys {
  const party = relyingParty(appUrl);
  const requireParty = () => {
    if (party) return party;
    throw new AppError('conflict', 'passkeys require an APP_URL with a host name instead of an IP address');
  };

  return {
    async creationOptions({ memberId, email, workspaceName }) {
      const known = await listPasskeys(pool, memberId);
      const { generateRegistrationOptions } = await webAuthn();
      const options = await generateRegistrationOptions({
        rpName: NAME,
        rpID: requireParty().id,
        userID: Buffer.from(memberId.replaceAll('-', ''), 'hex'),
        userName: email ?? workspaceName,
        userDisplayName: `${email ?? 'Console'} (${workspaceName})`,
        attestationType: 'none',
        excludeCredentials: known.map(({ credential_id: id, transports }) => ({ id, transports })),
        // The only credential: discoverable by the browser, and requires user verification.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      await insertChallenge(pool, options.challenge, memberId);
      return { ...options };
    },

    async checkNew(memberId, answer) {
      const { id, origins } = requireParty();
      const { verifyRegistrationResponse } = await webAuthn();
      const checked = await verifyRegistrationResponse({
        response: answer as RegistrationResponseJSON,
        expectedChallenge: (challenge) => consumeChallenge(pool, challenge, memberId),
        expectedOrigin: origins,
        expectedRPID: id,
      }).catch(unlessStore);
      if (!checked?.verified)
        throw badRequest(
          'passkey',
          'must be a response to the current options; get new options and try again',
        );
      const { credential } = checked.registrationInfo;
      return { ...credential, transports: (credential.transports ?? []).slice(0, 10) };
    },

    async signInOptions() {
      const { generateAuthenticationOptions } = await webAuthn();
      const options = await generateAuthenticationOptions({
        rpID: requireParty().id,
        userVerification: 'required',
      });
      await insertChallenge(pool, options.challenge, null);
      return { ...options };
    },

    async checkSignIn(answer) {
      const { id, origins } = requireParty();
      const response = answer as AuthenticationResponseJSON;
      const passkey = await passkeyByCredential(pool, response.id);
      if (!passkey) return null;
      const { verifyAuthenticationResponse } = await webAuthn();
      const checked = await verifyAuthenticationResponse({
        response,
        expectedChallenge: (challenge) => consumeChallenge(pool, challenge, null),
        expectedOrigin: origins,
        expectedRPID: id,
        credential: {
          id: passkey.credential_id,
          publicKey: new Uint8Array(passkey.public_key),
          counter: passkey.counter,
          transports: passkey.transports,
        },
      }).catch(unlessStore);
      if (!checked?.verified) return null;
      await recordPasskeyUse(pool, passkey.id, checked.authenticationInfo.newCounter);
      return passkey;
    },
  };
}

/**
 * Returns the relying party: the host of APP_URL, or null for an IP address, for which browsers create no
 * passkeys. Loopback addresses count as `localhost`.
 */
export function relyingParty(appUrl: string): { id: string; origins: string[] } | null {
  const { hostname, port, protocol } = new URL(appUrl);
  const isLoopback = hostname === '127.0.0.1' || hostname === '[::1]';
  if (isLoopback) return { id: 'localhost', origins: [`${protocol}//localhost${port && `:${port}`}`] };
  if (hostname.startsWith('[') || isIP(hostname) !== 0) return null;
  return { id: hostname, origins: [appUrl] };
}

/** Returns null for an invalid response, for which the library throws. Rethrows database failures. */
function unlessStore(error: unknown): null {
  if (isUnavailable(error)) throw error;
  return null;
}
