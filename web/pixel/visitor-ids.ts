import { uuidOf, VISITOR } from './address.ts';
import { attempt } from './attempt.ts';

/** Cookie of the ids before the newest, joined by points. */
const EARLIER = '_vids';
/** Cookie of when each id came: its first eight digits, then seconds since the epoch in base 36; joined by points. */
const LANDED = '_vidt';
/** Most ids in {@link EARLIER}. */
const MOST_EARLIER = 7;
/** One year, in seconds. Some browsers cap it: Safari keeps cookies of scripts for seven days. */
const MAX_AGE = 31_536_000;

/** Returns all values of a cookie: a name may stand on several domains. */
export function valuesOf(cookies: string, name: string): string[] {
  return cookies
    .split('; ')
    .filter((pair) => pair.indexOf(`${name}=`) === 0)
    .map((pair) => pair.slice(name.length + 1));
}

/** Returns the visitor ids in `document.cookie`, newest first. */
export function idsIn(cookies: string): string[] {
  const values = valuesOf(cookies, VISITOR).concat(
    ...valuesOf(cookies, EARLIER).map((list) => list.split('.')),
  );
  return newestOf(values);
}

/** Returns the distinct ids among the values, at most as many as both cookies hold. */
export function newestOf(values: readonly (string | null)[]): string[] {
  const ids = values.filter((value): value is string => uuidOf(value) !== null);
  return ids.filter((id, index) => ids.indexOf(id) === index).slice(0, MOST_EARLIER + 1);
}

const digitsOf = (id: string) => id.slice(0, 8);

/** Adds when ids came, as `document.cookie` has it, to `times`: seconds since the epoch, by the first digits of an id. */
export function readTimes(cookies: string, times: Record<string, number>): void {
  valuesOf(cookies, LANDED)
    .join('.')
    .split('.')
    .forEach((entry) => {
      times[digitsOf(entry)] = parseInt(entry.slice(8), 36);
    });
}

/**
 * The text that sets a cookie through `document.cookie`.
 *
 * @param value empty removes the cookie
 * @param domain empty: this host alone
 */
export function cookieText(name: string, value: string, domain: string, secure: boolean): string {
  return (
    `${name}=${value};path=/;max-age=${value ? MAX_AGE : 0};samesite=lax` +
    (domain && `;domain=${domain}`) +
    (secure ? ';secure' : '')
  );
}

/**
 * Domains to try for the cookie, widest first, so that `shop.example.com` and `checkout.example.com` share the visitor.
 * Browsers refuse public suffixes, so the first accepted domain is the site. The last, empty one is the host alone,
 * for `localhost` and IP addresses.
 */
export function cookieDomains(host: string): string[] {
  const labels = host.split('.');
  const domains = labels
    .map((_, index) => labels.slice(index).join('.'))
    .filter((domain) => domain.indexOf('.') > 0);
  return domains.reverse().concat('');
}

/** The parts of a page that hold cookies; reading and writing may throw. */
export type Page = { document: { cookie: string }; location: { hostname: string; protocol: string } };

/** The ids of this browser. Where it keeps none (blocked, a sandbox), the page itself does. */
export function createVisitorIds({ document, location }: Page) {
  let known: string[] = [];
  let times: Record<string, number> = {};
  /** The domain that took a cookie: each try is a call to another process. */
  let accepted: string[] | null = null;
  const stored = () =>
    attempt(() => {
      readTimes(document.cookie, times);
      return idsIn(document.cookie);
    }) || [];
  const all = () => newestOf(known.slice(0, 1).concat(stored(), known));

  /** Writes a cookie on the widest domain that takes it. Returns whether the page can read it. */
  function write(name: string, value: string): boolean {
    return (value && accepted ? accepted : cookieDomains(location.hostname)).some((domain) => {
      document.cookie = cookieText(name, value, domain, location.protocol === 'https:');
      const isRead = value !== '' && valuesOf(document.cookie, name).indexOf(value) >= 0;
      if (isRead) accepted = [domain];
      return isRead;
    });
  }

  return {
    /** Returns the ids, newest first. */
    all,
    /** Returns how many seconds ago the ids came; an age that is unknown is left out, or absurd. */
    ages(now: number): Record<string, number> {
      const ages: Record<string, number> = {};
      all().forEach((id) => {
        const age = now - (times[digitsOf(id)] || 0);
        if (age >= 0) ages[id] = age;
      });
      return ages;
    },
    /**
     * Stores the id of the page's address as the newest.
     *
     * @param at when the address was opened, seconds since the epoch; an id that is here already came earlier
     */
    add(id: string, at: number): void {
      if (all().indexOf(id) < 0) times[digitsOf(id)] = at;
      known = newestOf([id].concat(stored()));
      attempt(() => {
        // Another tool's cookie of this name, and an HttpOnly one of the short links on this host, stay as they are.
        const isTaken = valuesOf(document.cookie, VISITOR).some((value) => uuidOf(value) === null);
        const isStored = !isTaken && write(VISITOR, id);
        const earlier = known.slice(isStored ? 1 : 0).slice(0, MOST_EARLIER);
        if (earlier.length > 0) write(EARLIER, earlier.join('.'));
        write(LANDED, known.map((one) => digitsOf(one) + (times[digitsOf(one)] || 0).toString(36)).join('.'));
      });
    },
    /** Removes all ids. */
    clear(): void {
      known = [];
      times = {};
      attempt(() => {
        if (valuesOf(document.cookie, VISITOR).every((value) => uuidOf(value) !== null)) write(VISITOR, '');
        write(EARLIER, '');
        write(LANDED, '');
      });
    },
  };
}
