import * as client from 'openid-client';
import { type OidcSettings, withoutFinalSlash } from '../../core/settings/oidc.ts';
import {
  type ClaimState,
  type Claims,
  claimAt,
  type Groups,
  groupsOf,
  isMissingOne,
  mergeClaims,
  verifiedOf,
  verifiedState,
} from './provider-claims.ts';

/** Time for each request to the provider. Seconds. */
const TIMEOUT = 5;
/** Age of the discovery document after which it is read again. Milliseconds. */
const DISCOVERED_FOR = 3_600_000;

/** Why the provider returned no person. */
export type ProviderFailure = 'provider_down' | 'provider_refused' | 'provider_invalid';

export class ProviderError extends Error {
  readonly failure: ProviderFailure;
  constructor(failure: ProviderFailure, cause: unknown) {
    const reason = cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';
    super(`the identity provider: ${failure}${reason}`, { cause });
    this.name = 'ProviderError';
    this.failure = failure;
  }
}

/** Values that are sent to the provider, and checked in its response. */
export type ProviderChecks = { state: string; nonce: string; code_verifier: string };

/** A person as the provider describes it. */
export type ProviderPerson = {
  subject: string;
  email: string | null;
  /** Null: the provider does not tell. */
  isEmailVerified: boolean | null;
  groups: Groups;
  /** States of the claims that decide, by name and without values, for the log. */
  claims: Record<string, ClaimState | Groups['state']>;
  /** Time of the last proof that the person is there; null: unknown. */
  authTime: Date | null;
};

export type IdentityProvider = {
  /** Returns the URL to send the browser to. @param fresh the person must sign in again @throws {ProviderError} */
  begin(fresh: boolean): Promise<{ url: string } & ProviderChecks>;
  /** Returns the person of the provider's response. @param url the callback with its query @throws {ProviderError} */
  finish(url: URL, checks: ProviderChecks): Promise<ProviderPerson>;
};

/**
 * Authorization code flow with PKCE, state and nonce. The discovery document is read at the first sign-in, so that a
 * provider that is down stops no process.
 */
export function createProvider(settings: OidcSettings, redirectUri: string): IdentityProvider {
  let known: { config: Promise<client.Configuration>; until: number } | null = null;

  function configuration(): Promise<client.Configuration> {
    if (!known || known.until < Date.now()) {
      const config = discover(settings);
      const entry = { config, until: Date.now() + DISCOVERED_FOR };
      known = entry;
      config.catch(() => {
        if (known === entry) known = null; // read again at the next sign-in
      });
    }
    return known.config.catch((error: unknown) => {
      throw new ProviderError(isUnavailable(error) ? 'provider_down' : 'provider_invalid', error);
    });
  }

  return {
    async begin(fresh) {
      const config = await configuration();
      const checks = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        code_verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(checks.code_verifier),
        code_challenge_method: 'S256',
        ...(fresh && { prompt: 'login', max_age: '0' }),
      });
      return { url: url.href, ...checks };
    },

    async finish(url, checks) {
      const config = await configuration();
      try {
        const tokens = await client.authorizationCodeGrant(config, url, {
          expectedState: checks.state,
          expectedNonce: checks.nonce,
          pkceCodeVerifier: checks.code_verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new Error('the response has no ID token');
        const groupsClaim = settings.groupRoles.size === 0 ? [] : [settings.groupsClaim];
        const isAsked =
          isMissingOne(claims, ['email', 'email_verified', ...groupsClaim]) &&
          config.serverMetadata().userinfo_endpoint !== undefined;
        const info = isAsked ? await client.fetchUserInfo(config, tokens.access_token, claims.sub) : {};
        return personOf(mergeClaims(claims, info), settings.groupsClaim);
      } catch (error) {
        throw new ProviderError(failureOf(error), error);
      }
    },
  };
}

/** Reads the discovery document, and authenticates the client as the document allows. */
async function discover(settings: OidcSettings): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret } = settings;
  const found = await read(new URL(issuer), clientId).catch((error: unknown) => {
    const named = issuerOfDocument(error);
    if (named === null) throw error;
    if (withoutFinalSlash(named) === withoutFinalSlash(issuer)) return read(new URL(named), clientId);
    throw new Error(`OIDC_ISSUER is ${issuer}, but the provider's document names the issuer ${named}`, {
      cause: error,
    });
  });
  if (clientSecret === '') return found;
  const server = found.serverMetadata();
  // The default of OpenID Connect Discovery is `client_secret_basic`.
  const isBasic = server.token_endpoint_auth_methods_supported?.includes('client_secret_basic') ?? true;
  const authentication = isBasic
    ? client.ClientSecretBasic(clientSecret)
    : client.ClientSecretPost(clientSecret);
  const config = new client.Configuration(server, clientId, clientSecret, authentication);
  config.timeout = TIMEOUT;
  if (isInsecure(new URL(issuer))) client.allowInsecureRequests(config);
  return config;
}

/** The settings allow http:// for loopback addresses only. */
const isInsecure = (issuer: URL) => issuer.protocol === 'http:';

const read = (issuer: URL, clientId: string) =>
  client.discovery(issuer, clientId, undefined, client.None(), {
    timeout: TIMEOUT,
    ...(isInsecure(issuer) && { execute: [client.allowInsecureRequests] }),
  });

/** Returns the issuer of a document that was refused because it names another one; null for other errors. */
function issuerOfDocument(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : null;
  if (typeof cause !== 'object' || cause === null || !('attribute' in cause) || !('body' in cause))
    return null;
  const { attribute, body } = cause;
  if (attribute !== 'issuer' || typeof body !== 'object' || body === null || !('issuer' in body)) return null;
  return typeof body.issuer === 'string' && URL.canParse(body.issuer) ? body.issuer : null;
}

function personOf(claims: Claims, groupsClaim: string): ProviderPerson {
  const { sub, email, auth_time: authTime } = claims;
  const groups = groupsOf(claims, groupsClaim);
  return {
    subject: String(sub),
    email: typeof email === 'string' ? email : null,
    isEmailVerified: verifiedOf(claims),
    groups,
    claims: {
      email: claimAt(claims, 'email') === undefined ? 'absent' : 'present',
      email_verified: verifiedState(claims),
      [groupsClaim]: groups.state,
    },
    authTime: typeof authTime === 'number' ? new Date(authTime * 1_000) : null,
  };
}

function failureOf(error: unknown): ProviderFailure {
  if (error instanceof client.AuthorizationResponseError) return 'provider_refused';
  return isUnavailable(error) ? 'provider_down' : 'provider_invalid';
}

/** Returns whether the provider did not respond, or responded that it is unavailable. */
function isUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'TimeoutError' || cause.name === 'AbortError') return true;
    if (cause instanceof TypeError && cause.message === 'fetch failed') return true;
    if (cause.cause instanceof Response && cause.cause.status >= 500) return true;
  }
  return false;
}
