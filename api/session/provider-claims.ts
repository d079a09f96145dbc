/** Claims of a person, by name. */
export type Claims = Record<string, unknown>;

/** What became of a claim that decides about a sign-in; says no value, so that it may be logged. */
export type ClaimState = 'absent' | 'false' | 'not understood' | 'present';

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/**
 * Returns the value of a claim: of that name, or else at the dotted path (`realm_access.roles` of Keycloak). Null
 * counts as absent.
 */
export function claimAt(claims: Claims, name: string): unknown {
  if (isGiven(claims[name])) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return isGiven(value) ? value : undefined;
}

/**
 * Returns whether userinfo must be asked for claims: providers leave claims out of the ID token, or send them as null
 * or empty.
 */
export function isMissingOne(claims: Claims, names: readonly string[]): boolean {
  return names.some((name) => claimAt(claims, name) === undefined);
}

/**
 * Merges the claims of the ID token with those of userinfo, one by one: the ID token wins where it has a value.
 *
 * A userinfo that names another email says nothing about the email of the ID token, so its `email_verified` is left
 * out.
 */
export function mergeClaims(idToken: Claims, userinfo: Claims): Claims {
  const given = (claims: Claims) => Object.entries(claims).filter(([, value]) => isGiven(value));
  const merged: Claims = Object.fromEntries([...given(userinfo), ...given(idToken)]);
  const isOtherEmail = isGiven(userinfo.email) && merged.email !== userinfo.email;
  if (isOtherEmail && !isGiven(idToken.email_verified)) delete merged.email_verified;
  return merged;
}

/** Returns `email_verified` as a boolean: Amazon Cognito and others send it as text. Null: absent or not understood. */
export function verifiedOf(claims: Claims): boolean | null {
  const value = claims.email_verified;
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return text === 'true' ? true : text === 'false' ? false : null;
}

/** Returns what became of `email_verified`, for the log. */
export function verifiedState(claims: Claims): ClaimState {
  if (!isGiven(claims.email_verified)) return 'absent';
  const verified = verifiedOf(claims);
  return verified === null ? 'not understood' : verified ? 'present' : 'false';
}

/** The groups of a person; `missing`: no such claim, `overage`: too many for the token. */
export type Groups = { state: 'given'; names: string[] } | { state: 'missing' | 'overage' };

/**
 * Returns the groups of a person. Where a person has too many, Entra ID sends `_claim_names` in place of the claim
 * (https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference), or `hasgroups`.
 */
export function groupsOf(claims: Claims, name: string): Groups {
  const value = claimAt(claims, name);
  if (value !== undefined) {
    const names = [value].flat().filter((group): group is string => typeof group === 'string');
    return { state: 'given', names };
  }
  const elsewhere = claims._claim_names;
  const isElsewhere = typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, name);
  const isOverage = isElsewhere || (name === 'groups' && String(claims.hasgroups) === 'true');
  return { state: isOverage ? 'overage' : 'missing' };
}
