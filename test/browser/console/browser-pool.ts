import type { Browser, BrowserContext, Page } from 'playwright-core';

type Cookies = Parameters<BrowserContext['addCookies']>[0];

/** A context of the console's pages, which use it one after the other. */
type Place = {
  origin: string;
  timeZone: string | undefined;
  context: BrowserContext;
  /** Stays open, and with it the process that has compiled the console's scripts. */
  base: Page;
  isUsed: boolean;
};

/** Unused contexts that stay open: each takes the memory of a process. */
const MOST_UNUSED = 2;
/** False where a clock is installed, which stays in a context. */
const HAS_OWN_DATE = '/native code/.test(Function.prototype.toString.call(Date))';

const places = new Set<Place>();

/**
 * Opens an empty page in a context that no other open page uses. The context has these cookies, and neither storage nor
 * permissions of an earlier page. In a new one a page of the console takes a third more CPU time: it loads and compiles
 * all scripts.
 *
 * @param given.timeZone IANA name; undefined: that of this machine
 */
export async function openEmptyPage(
  browser: Browser,
  given: { origin: string; timeZone: string | undefined; cookies: Cookies },
): Promise<Page> {
  const place = (await unusedPlace(given)) ?? (await newPlace(browser, given));
  if (given.cookies.length > 0) await place.context.addCookies(given.cookies);
  const page = await place.context.newPage();
  page.once('close', () => release(place));
  return page;
}

/** Takes a context that an earlier page has used, and removes what that left there. */
async function unusedPlace({ origin, timeZone }: Pick<Place, 'origin' | 'timeZone'>): Promise<Place | null> {
  for (const place of places) {
    if (place.isUsed || place.origin !== origin || place.timeZone !== timeZone) continue;
    place.isUsed = true;
    const { context, base } = place;
    if (!(await base.evaluate(HAS_OWN_DATE))) {
      await end(place);
      continue;
    }
    await Promise.all(context.pages().map((page) => page !== base && page.close()));
    await Promise.all([
      context.clearCookies(),
      context.clearPermissions(),
      base.evaluate('localStorage.clear()'),
    ]);
    return place;
  }
  return null;
}

async function newPlace(
  browser: Browser,
  { origin, timeZone }: Pick<Place, 'origin' | 'timeZone'>,
): Promise<Place> {
  // Those of a service that has ended.
  await Promise.all([...places].filter((one) => !one.isUsed && one.origin !== origin).map(end));
  const context = await browser.newContext({
    viewport: { width: 1_280, height: 900 },
    reducedMotion: 'reduce',
    locale: 'en-GB',
    ...(timeZone !== undefined && { timezoneId: timeZone }),
  });
  const base = await context.newPage();
  await base.goto(`${origin}/health/live`);
  const place = { origin, timeZone, context, base, isUsed: true };
  places.add(place);
  return place;
}

function release(place: Place): void {
  place.isUsed = false;
  const unused = [...places].filter(({ isUsed }) => !isUsed);
  // The browser may be closing too.
  if (unused.length > MOST_UNUSED) end(unused[0] ?? place).catch(() => undefined);
}

async function end(place: Place): Promise<void> {
  places.delete(place);
  await place.context.close();
}
