import { isIP } from 'node:net';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type WebAuthnCredential,
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
import { storeError } from '../plugins/store-errors.ts';

const NAME = 'Hoplog';

/** Whose passkey is made. */
export type PasskeyOwner = { memberId: string; email: string | null; workspaceName: string };

/** The ceremonies of WebAuthn. Each challenge is kept in PostgreSQL and answered once. */
export type Passkeys = {
  /** Options of a new passkey. @throws {AppError} `conflict` where passkeys can't work */
  creationOptions(owner: PasskeyOwner): Promise<Record<string, unknown>>;
  /** The new credential. @throws {AppError} `bad_request` when it does not answer a challenge of this member */
  checkNew(memberId: string, answer: unknown): Promise<WebAuthnCredential & { transports: string[] }>;
  /** Options of a sign-in with any passkey. @throws {AppError} `conflict` as above */
  signInOptions(): Promise<Record<string, unknown>>;
  /** The passkey that answered, its use noted; null when the answer is not good. */
  checkSignIn(answer: unknown): Promise<Passkey | null>;
};

export function createPasskeys(pool: Pool, { appUrl }: Pick<Config, 'appUrl'>): Passkeys {
  const party = relyingParty(appUrl);
  const requireParty = () => {
    if (party) return party;
    throw new AppError('conflict', 'passkeys need an APP_URL with a host name, not an address');
  };

  return {
    async creationOptions({ memberId, email, workspaceName }) {
      const known = await listPasskeys(pool, memberId);
      const options = await generateRegistrationOptions({
        rpName: NAME,
        rpID: requireParty().id,
        userID: Buffer.from(memberId.replaceAll('-', ''), 'hex'),
        userName: email ?? workspaceName,
        userDisplayName: `${email ?? 'Console'} (${workspaceName})`,
        attestationType: 'none',
        excludeCredentials: known.map(({ credential_id: id, transports }) => ({ id, transports })),
        // It stands alone, without an email or a password: found by the browser, and unlocked by its owner.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      await insertChallenge(pool, options.challenge, memberId);
      return { ...options };
    },

    async checkNew(memberId, answer) {
      const { id, origins } = requireParty();
      const checked = await verifyRegistrationResponse({
        response: answer as RegistrationResponseJSON,
        expectedChallenge: (challenge) => consumeChallenge(pool, challenge, memberId),
        expectedOrigin: origins,
        expectedRPID: id,
      }).catch(unlessStore);
      if (!checked?.verified)
        throw badRequest('passkey', 'is not an answer to the options, or came too late');
      const { credential } = checked.registrationInfo;
      return { ...credential, transports: (credential.transports ?? []).slice(0, 10) };
    },

    async signInOptions() {
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
 * Whom passkeys are made for: the host of APP_URL. Browsers make none for addresses; this machine's own has a name,
 * `localhost`. Null for every other address.
 */
export function relyingParty(appUrl: string): { id: string; origins: string[] } | null {
  const { hostname, port, protocol } = new URL(appUrl);
  const isLoopback = hostname === '127.0.0.1' || hostname === '[::1]';
  if (isLoopback) return { id: 'localhost', origins: [`${protocol}//localhost${port && `:${port}`}`] };
  if (hostname.startsWith('[') || isIP(hostname) !== 0) return null;
  return { id: hostname, origins: [appUrl] };
}

/** The library throws what is wrong with an answer; only a store that is down is nobody's wrong answer. */
function unlessStore(error: unknown): null {
  if (storeError(error)?.code === 'unavailable') throw error;
  return null;
}
