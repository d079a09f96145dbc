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

/** Whether passkeys work here: browsers support host names, not IP addresses. */
export function passkeysWork(): boolean {
  return browserSupportsWebAuthn() && !ADDRESS.test(window.location.hostname);
}

/** This page's URL at `localhost`, if it was opened by loopback address; otherwise null. */
export function pageByName(): string | null {
  const { hostname, href } = window.location;
  const isOwn = hostname === '127.0.0.1' || hostname === '[::1]';
  return isOwn && browserSupportsWebAuthn() ? href.replace(hostname, 'localhost') : null;
}

/**
 * Creates a passkey in the browser.
 *
 * @param path path of the options, below `/api/v1`
 * @returns the value to send to the server
 */
export async function makePasskey(path: string, body?: object): Promise<unknown> {
  const optionsJSON = await callApi<PublicKeyCredentialCreationOptionsJSON>(path, { method: 'POST', body });
  return startRegistration({ optionsJSON });
}

/** Signs in the browser with a passkey of the person's choice. */
export async function signWithPasskey(): Promise<unknown> {
  const optionsJSON = await callApi<PublicKeyCredentialRequestOptionsJSON>('/session/passkey/options', {
    method: 'POST',
  });
  return startAuthentication({ optionsJSON });
}

/** The message after a WebAuthn ceremony without a passkey. */
export function passkeyFailure(error: unknown): string {
  if (error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED') {
    return 'This device already has a passkey for you.';
  }
  if (error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError')) {
    return 'No passkey was chosen. Try again.';
  }
  return messageOf(error);
}
