import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { LIMIT_MS } from '../support/until.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Headless shell: the same engine without the browser around it. A page takes a third of the time. */
const SHELL = '/usr/bin/chromium-headless-shell';

/** Path of the machine's Chromium, or null where none is installed. */
export function installedChromium(): string | null {
  return PLACES.find((place) => existsSync(place)) ?? null;
}

/** The reason why browser tests are skipped, or false where they can run. */
export const NO_CHROMIUM = testedChromium() === null && 'no Chromium is installed';

let shared: Promise<Browser> | null = null;

/**
 * The Chromium of all test files of this process, which ends with it. A file opens its own contexts or pages in it,
 * and closes them.
 */
export function sharedChromium(): Promise<Browser> {
  // Saves a fifth of the work where pages follow each other. V8 keeps what it compiled, collects young objects less
  // often, and does not optimize: each page would need that again, and does not live long enough to gain from it.
  const flags =
    '--no-flush-bytecode --min-semi-space-size=32 --max-semi-space-size=64 --no-turbofan --no-maglev';
  shared ??= launchChromium(testedChromium(), flags).then((browser) => {
    browser.on('context', (context) => context.setDefaultTimeout(LIMIT_MS));
    return browser;
  });
  return shared;
}

function testedChromium(): string | null {
  return existsSync(SHELL) ? SHELL : installedChromium();
}

/**
 * Starts Chromium without a window, and without its background requests.
 *
 * @param place path of the program; by default the browser of the machine, or its headless shell
 * @param flags further ones of V8
 */
export function launchChromium(
  place: string | null = installedChromium() ?? testedChromium(),
  flags = '',
): Promise<Browser> {
  return chromium.launch({
    executablePath: place ?? undefined,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // A tenth less work on few cores: no process for the GPU that is off, no helper threads of V8.
      '--in-process-gpu',
      `--js-flags=--single-threaded ${flags}`,
      // Pages of a site and context share a process, and what it has compiled.
      '--process-per-site',
    ],
  });
}
