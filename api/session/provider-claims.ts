import { normalizeEmail } from '../../core/tracking/emails.ts';

/** Claims of a person, by name. */
export type Claims = Record<string, unknown>;

/** The state of a claim that decides about a sign-in. It contains no value, so that it may be logged. */
export type ClaimState = 'absent' | 'false' | 'not understood' | 'present';

const isThere = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
/** An empty list may be filled in userinfo. */
const isGiven = (value: unknown): boolean => isThere(value) && !(Array.isArray(value) && value.length === 0);

const isObject = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the value of a claim: of that name, or else at the dotted path (`realm_access.roles` of Keycloak). Null
 * counts as absent.
 */
export function claimAt(claims: Claims, name: string): unknown {
  if (isThere(claims[name])) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return isThere(value) ? value : undefined;
}

/**
 * Returns whether userinfo must be queried for claims: providers omit claims from the ID token, or send them as null or
 * empty.
 */
export function isMissingOne(claims: Claims, names: readonly string[]): boolean {
  return names.some((name) => !isGiven(claimAt(claims, name)));
}

/**
 * Merges the claims of the ID token with those of userinfo, one by one. The ID token takes precedence if it has a
 * value.
 *
 * A userinfo with another email does not describe the email of the ID token, so its `email_verified` is left out.
 */
export function mergeClaims(idToken: Claims, userinfo: Claims): Claims {
  const merged = merge(idToken, userinfo);
  const isOtherEmail = isGiven(userinfo.email) && !isSameEmail(merged.email, userinfo.email);
  if (isOtherEmail && !isGiven(idToken.email_verified)) delete merged.email_verified;
  return merged;
}

/** Merges objects within claims too: Keycloak may send an empty `realm_access`. An empty list is better than none. */
function merge(first: Claims, second: Claims): Claims {
  const names = new Set([...Object.keys(second), ...Object.keys(first)]);
  const entries = [...names].map((name): [string, unknown] => {
    const [one, other] = [first[name], second[name]];
    if (isObject(one) && isObject(other)) return [name, merge(one, other)];
    return [name, [one, other].find(isGiven) ?? one ?? other];
  });
  return Object.fromEntries(entries.filter(([, value]) => isThere(value)));
}

/** Entra ID and others write an address in another case in the ID token than in userinfo. */
const isSameEmail = (one: unknown, other: unknown): boolean =>
  typeof one === 'string' && typeof other === 'string' && normalizeEmail(one) === normalizeEmail(other);

/**
 * Returns `email_verified` as a boolean: Amazon Cognito and others send it as text. An unknown value does not verify.
 * Null: absent.
 */
export function verifiedOf(claims: Claims): boolean | null {
  const value = claims.email_verified;
  return isGiven(value) ? String(value).trim().toLowerCase() === 'true' : null;
}

/** Returns the state of `email_verified`, for the log. */
export function verifiedState(claims: Claims): ClaimState {
  const verified = verifiedOf(claims);
  if (verified === null) return 'absent';
  if (verified) return 'present';
  return /^\s*false\s*$/i.test(String(claims.email_verified)) ? 'false' : 'not understood';
}

/** The groups of a person; `missing`: no such claim, `overage`: too many for the token. */
export type Groups = { state: 'given'; names: string[] } | { state: 'missing' | 'overage' };

/**
 * Returns the groups of a person. If there are too many, Entra ID sends `_claim_names` in place of the claim
 * (https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference), or `hasgroups`.
 */
export function groupsOf(claims: Claims, name: string): Groups {
  const value = claimAt(claims, name);
  if (value !== undefined) {
    // ZITADEL sends roles as the names of an object.
    const groups: unknown[] = isObject(value) ? Object.keys(value) : [value].flat();
    return { state: 'given', names: groups.filter((group) => typeof group === 'string') };
  }
  const elsewhere = claims._claim_names;
  const isElsewhere = typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, name);
  const isOverage = isElsewhere || (name === 'groups' && String(claims.hasgroups) === 'true');
  return { state: isOverage ? 'overage' : 'missing' };
}
