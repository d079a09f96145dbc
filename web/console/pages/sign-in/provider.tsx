import { Button } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';

type Provider = ResponseOf<'/session/provider'>;

/** Why a sign-in with the identity provider failed, by the `sign_in` of the page's address. */
const FAILURES: Record<string, string> = {
  provider_down:
    'The identity provider does not respond. Try again later, or sign in with a password or passkey.',
  provider_refused: 'The identity provider did not sign you in. Try again.',
  provider_invalid:
    'The identity provider sent a response that is not valid. Try again, or tell the operator.',
  expired: 'This sign-in has expired or was used before. Try again.',
  email_missing:
    'The identity provider sent no email of yours (the claim email). Tell the operator of this service.',
  email_unverified: 'The identity provider has not verified your email (the claim email_verified is false).',
  email_verified_missing:
    'The identity provider does not say whether your email is verified (the claim email_verified is missing). The operator of this service can set OIDC_TRUST_EMAIL.',
  domain_refused: 'Emails of your domain cannot sign in here.',
  no_member: 'You are not a member of the workspace. Ask an owner for an invitation.',
  removed: 'You were removed from the workspace. Ask an owner for an invitation.',
  no_group: 'None of your groups has access to this workspace.',
  groups_missing:
    'The identity provider did not send your groups (the claim of OIDC_GROUPS_CLAIM is missing). Tell the operator of this service.',
  groups_overage:
    'You are in more groups than the identity provider sends. The operator can let it send only those of this service.',
  other_person:
    'This email is tied to another account of the identity provider. If the account is yours, an owner can end the tie under Settings, Members, or the operator with "hoplog member unlink".',
  no_workspace: 'The operator of this service must name the workspace in OIDC_WORKSPACE.',
};

/** Returns the reason in the page's address, or null. */
export function failureOfProvider(): string | null {
  const reason = new URLSearchParams(window.location.search).get('sign_in') ?? '';
  return Object.hasOwn(FAILURES, reason) ? (FAILURES[reason] ?? null) : null;
}

/** Returns the address that signs in with the provider and comes back to this page. */
export function providerUrl({ confirm = false } = {}): string {
  const back = new URL(window.location.href);
  back.searchParams.delete('sign_in');
  const query = new URLSearchParams({
    return_to: back.pathname + back.search,
    ...(confirm && { confirm: '1' }),
  });
  return `/console/oidc/start?${query}`;
}

/** The button of the identity provider, where there is one. */
export function ProviderButton() {
  const { data } = useApi<Provider>('/session/provider');
  if (!data?.name) return null;
  return (
    <Button component="a" variant="default" href={providerUrl()}>
      Sign in with {data.name}
    </Button>
  );
}
