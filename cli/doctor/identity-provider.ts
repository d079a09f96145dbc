import { createProvider, ProviderError } from '../../api/session/provider.ts';
import { PROVIDER_CALLBACK } from '../../api/session/provider-routes.ts';
import type { Config } from '../../core/settings/config.ts';
import { type Finding, findingsOf } from './finding.ts';

/** Checks that the identity provider of the settings responds, by its discovery document. */
export async function checkIdentityProvider({
  oidc,
  appUrl,
}: Pick<Config, 'oidc' | 'appUrl'>): Promise<Finding[]> {
  if (!oidc) return [];
  const { ok, error } = findingsOf('sign-in');
  const redirectUri = `${appUrl}${PROVIDER_CALLBACK}`;
  const register = `the redirect URI to register there is ${redirectUri}`;
  try {
    await createProvider(oidc, redirectUri).begin(false);
  } catch (cause) {
    if (!(cause instanceof ProviderError)) throw cause;
    const isDown = cause.failure === 'provider_down';
    return [
      error(
        `OIDC_ISSUER=${oidc.issuer}: ${cause.message}`,
        isDown
          ? `let this machine reach the provider, or correct OIDC_ISSUER; ${register}`
          : `set OIDC_ISSUER to the issuer of the discovery document; ${register}`,
      ),
    ];
  }
  return [ok(`${oidc.issuer} responds; ${register}`)];
}
