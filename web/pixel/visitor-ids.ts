import { isUuid, VISITOR } from './address.ts';
import { attempt } from './attempt.ts';

/** Cookie of the earlier ids, at most seven, joined by points. */
const EARLIER = '_vids';
/**
 * Cookie of the time when each id arrived: the first eight digits of the id, then seconds since the epoch in base 36;
 * joined by points.
 */
const LANDED = '_vidt';

/** Returns the distinct ids among the values, at most as many as both cookies hold: one, and seven. */
const newestOf = (values: readonly (string | undefined)[]) =>
  values.filter((id, index): id is string => isUuid(id) && values.indexOf(id) === index).slice(0, 8);

const digitsOf = (id: string) => id.slice(0, 8);

/**
 * Domains to try for the cookie, widest first, so that `shop.example.com` and `checkout.example.com` share the visitor.
 * Browsers refuse public suffixes, so the first accepted domain is the site. The last, empty one is the host alone,
 * for `localhost` and IP addresses.
 */
export const cookieDomains = (host: string): string[] => {
  const domains = [''];
  for (let domain = host; domain.includes('.'); domain = domain.replace(/.*?\./, '')) domains.unshift(domain);
  return domains;
};

/** The parts of a page that hold cookies; reading and writing may throw. */
export type Page = { document: { cookie: string }; location: { hostname: string; protocol: string } };

/**
 * The ids of this browser. If it stores none (blocked, a sandbox), the page itself holds them.
 *
 * @param later runs a step in a separate task: each cookie is a call to another process
 */
export const createVisitorIds = ({ document, location }: Page, later: (step: () => void) => void) => {
  let known: string[] = [];
  let times: Record<string, number> = {};
  /** Returns all values of a cookie, because several domains may have the name. */
  const valuesOf = (name: string) =>
    `; ${attempt(() => document.cookie)}`
      .split(`; ${name}=`)
      .slice(1)
      .map((rest) => rest.replace(/;.*/, ''));
  const partsOf = (name: string) => valuesOf(name).join('.').split('.');
  const timeOf = (id: string) => times[digitsOf(id)] || 0;
  /** Whether `_vid` is ours and not another tool's. */
  const isOurs = () => valuesOf(VISITOR).every(isUuid);
  const all = () => {
    for (const entry of partsOf(LANDED)) times[digitsOf(entry)] = parseInt(entry.slice(8), 36);
    return newestOf([known[0], ...partsOf(VISITOR), ...partsOf(EARLIER), ...known]);
  };

  /**
   * Writes a cookie on the widest domain that takes it; an empty value removes it. Returns whether the page can read
   * it.
   */
  const write = (name: string, value: string) =>
    attempt(() =>
      cookieDomains(location.hostname).some((domain) => {
        // A year, in seconds. Some browsers cap it: Safari keeps cookies of scripts for seven days.
        document.cookie = `${name}=${value};path=/;max-age=${value ? 31_536_000 : 0};samesite=lax${
          domain && `;domain=${domain}`
        }${location.protocol > 'http:' ? ';secure' : ''}`;
        return value && valuesOf(name).includes(value);
      }),
    );

  return {
    /** Returns how many seconds ago the ids arrived, newest first. An unknown time gives an implausible age. */
    ages(now: number) {
      const ages: Record<string, number> = {};
      for (const id of all()) ages[id] = now - timeOf(id);
      return ages;
    },
    /**
     * Stores the id of the page's address as the newest.
     *
     * @param at when the address was opened, seconds since the epoch; a stored id keeps its earlier time
     */
    add(id: string, at: number): void {
      known = all();
      if (!known.includes(id)) times[digitsOf(id)] = at;
      known = newestOf([id, ...known]);
      let earlier = known;
      later(() => {
        // Another tool's cookie with this name, and an HttpOnly one of the short links on this host, stay unchanged.
        const from = isOurs() && write(VISITOR, id) ? 1 : 0;
        earlier = known.slice(from, from + 7);
      });
      later(() => earlier[0] && write(EARLIER, earlier.join('.')));
      later(() => write(LANDED, known.map((one) => digitsOf(one) + timeOf(one).toString(36)).join('.')));
    },
    /** Removes all ids. */
    clear(): void {
      known = [];
      times = {};
      for (const name of [VISITOR, EARLIER, LANDED])
        if (valuesOf(name)[0] && (name !== VISITOR || isOurs())) write(name, '');
    },
  };
};
