import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser';
import { callApi } from '../../api/call.ts';
import { messageOf } from '../../api/failures.ts';

const ADDRESS = /^(\d+\.\d+\.\d+\.\d+|\[.*\])$/;

/** Whether passkeys can be offered here: browsers keep them for host names, not for addresses. */
export function passkeysWork(): boolean {
  return browserSupportsWebAuthn() && !ADDRESS.test(window.location.hostname);
}

/** This very page under the machine's own name, where it was opened by its address and passkeys would work; or null. */
export function pageByName(): string | null {
  const { hostname, href } = window.location;
  const isOwn = hostname === '127.0.0.1' || hostname === '[::1]';
  return isOwn && browserSupportsWebAuthn() ? href.replace(hostname, 'localhost') : null;
}

/**
 * Has the browser make a passkey.
 *
 * @param path of the options, below `/api/v1`
 * @returns what the server is to be sent
 */
export async function makePasskey(path: string, body?: object): Promise<unknown> {
  const optionsJSON = await callApi<PublicKeyCredentialCreationOptionsJSON>(path, { method: 'POST', body });
  return startRegistration({ optionsJSON });
}

/** Has the browser sign with a passkey that the person chooses. */
export async function signWithPasskey(): Promise<unknown> {
  const optionsJSON = await callApi<PublicKeyCredentialRequestOptionsJSON>('/session/passkey/options', {
    method: 'POST',
  });
  return startAuthentication({ optionsJSON });
}

/** What a person is told when a ceremony ended without a passkey. */
export function passkeyFailure(error: unknown): string {
  if (error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED') {
    return 'This device already has a passkey for you.';
  }
  if (error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError')) {
    return 'No passkey was chosen. Try again.';
  }
  return messageOf(error);
}
