import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The machine's Chromium, or null where none is installed. */
export function installedChromium(): string | null {
  return PLACES.find((place) => existsSync(place)) ?? null;
}

/** Why browser tests are skipped, or false where they can run. */
export const NO_CHROMIUM = installedChromium() === null && 'no Chromium is installed';

/** Starts the machine's Chromium without a window, and without its own calls home. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: installedChromium() ?? undefined,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
