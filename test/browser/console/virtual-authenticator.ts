import type { Page } from 'playwright-core';

/** Gives the page's browser an authenticator of its own, whose user is always present and consents. */
export async function addAuthenticator(page: Page): Promise<void> {
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('WebAuthn.enable');
  await protocol.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
