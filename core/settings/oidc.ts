import { ROLES, type Role } from '../access/roles.ts';
import { ConfigError } from './settings-error.ts';

/** The OpenID Connect provider that signs members in. */
export type OidcSettings = {
  /** URL of the issuer without a final slash; its discovery document may have one. */
  issuer: string;
  clientId: string;
  /** Empty: a public client, protected by PKCE alone. */
  clientSecret: string;
  /** Name on the button of the sign-in. */
  name: string;
  scopes: string;
  /** Takes an email without `email_verified`. A claim that is false stays refused. */
  trustsEmail: boolean;
  /** Domains of emails that may sign in, in lower case. */
  allowedDomains: readonly string[];
  /** Id or slug of the workspace; empty: the only one. */
  workspace: string;
  /** Claim with the groups of a person, or a dotted path to it. */
  groupsClaim: string;
  /** The role that each group gives; empty: groups do not count. */
  groupRoles: ReadonlyMap<string, Role>;
};

type Given = Record<
  | 'OIDC_ISSUER'
  | 'OIDC_CLIENT_ID'
  | 'OIDC_CLIENT_SECRET'
  | 'OIDC_NAME'
  | 'OIDC_SCOPES'
  | 'OIDC_ALLOWED_DOMAINS'
  | 'OIDC_WORKSPACE'
  | 'OIDC_GROUPS_CLAIM'
  | 'OIDC_GROUP_ROLES'
  | 'OIDC_TRUST_EMAIL',
  string
>;

const DOMAIN = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;
const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

/** Returns the settings of the provider, or null without an issuer. @throws {ConfigError} */
export function oidcSettings(raw: Given): OidcSettings | null {
  if (raw.OIDC_ISSUER === '') return null;
  const { hostname } = issuerOf(raw.OIDC_ISSUER);
  if (raw.OIDC_CLIENT_ID === '') throw new ConfigError('OIDC_CLIENT_ID', '', 'must be set for OIDC_ISSUER');
  const allowedDomains = list(raw.OIDC_ALLOWED_DOMAINS.toLowerCase());
  if (allowedDomains.length === 0 || !allowedDomains.every((domain) => DOMAIN.test(domain))) {
    throw new ConfigError(
      'OIDC_ALLOWED_DOMAINS',
      raw.OIDC_ALLOWED_DOMAINS,
      'must be domains of emails such as "shop.example,mail.example" for OIDC_ISSUER',
    );
  }
  return {
    issuer: withoutFinalSlash(raw.OIDC_ISSUER),
    clientId: raw.OIDC_CLIENT_ID,
    clientSecret: raw.OIDC_CLIENT_SECRET,
    name: raw.OIDC_NAME || hostname,
    scopes: raw.OIDC_SCOPES,
    trustsEmail: raw.OIDC_TRUST_EMAIL === 'true',
    allowedDomains,
    workspace: raw.OIDC_WORKSPACE,
    groupsClaim: raw.OIDC_GROUPS_CLAIM,
    groupRoles: rolesOf(raw.OIDC_GROUP_ROLES),
  };
}

/** Returns an issuer in the form in which two are compared: people write it with and without the final slash. */
export const withoutFinalSlash = (issuer: string): string => issuer.replace(/\/$/, '');

function issuerOf(text: string): URL {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.includes(url.hostname));
  if (!url || !isSafe || url.search || url.hash || url.username) {
    throw new ConfigError('OIDC_ISSUER', text, 'must be an https:// URL without a query');
  }
  return url;
}

function rolesOf(text: string): ReadonlyMap<string, Role> {
  const pairs = list(text).map((pair) => {
    const at = pair.lastIndexOf(':');
    const role = ROLES.find((one) => one === pair.slice(at + 1).trim());
    const group = pair.slice(0, Math.max(at, 0)).trim();
    if (!role || group === '') {
      throw new ConfigError(
        'OIDC_GROUP_ROLES',
        text,
        `must be groups with a role of ${ROLES.join(', ')}, such as "admins:owner,marketing:analyst"`,
      );
    }
    return [group, role] as const;
  });
  return new Map(pairs);
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
