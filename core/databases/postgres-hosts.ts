/**
 * Hosts of a PostgreSQL URL in the form of libpq:
 * `postgres://user@first:5432,second:5432/name?target_session_attrs=...`.
 */
export type PostgresHosts = {
  /** The same URL for each host alone, in the order of the list. */
  urls: readonly [string, ...string[]];
  /** Whether a connection must reach a server that accepts writes. Always so with several hosts. */
  needsPrimary: boolean;
};

const PARTS = /^(?<begin>[a-z]+:\/\/(?:[^/?#]*@)?)(?<hosts>[^/?#]*)(?<end>.*)$/is;
const ATTRIBUTE = 'target_session_attrs';
/** Values of libpq that this service supports: it writes through each connection. */
const PRIMARY = ['read-write', 'primary'];

/**
 * Returns the hosts of a URL. node-postgres knows neither several hosts nor `target_session_attrs`, so that parameter
 * is not in the returned URLs.
 *
 * @throws {RangeError} saying what must be different
 */
export function postgresHosts(url: string): PostgresHosts {
  const { begin = '', hosts = url, end = '' } = PARTS.exec(url)?.groups ?? {};
  const [first, ...others] = hosts.split(',').map((host) => `${begin}${host}${end}`);
  if (first === undefined || (others.length > 0 && hosts.split(',').includes(''))) {
    throw new RangeError('must have a host before and after each comma');
  }
  const wanted = URL.canParse(first) ? new URL(first).searchParams.get(ATTRIBUTE) : null;
  const isAny = wanted === null || (wanted === 'any' && others.length === 0);
  if (!isAny && !PRIMARY.includes(wanted ?? '')) {
    throw new RangeError(`must have ${ATTRIBUTE}=read-write, or none: this service writes`);
  }
  return {
    urls: [withoutAttribute(first), ...others.map(withoutAttribute)],
    needsPrimary: others.length > 0 || !isAny,
  };
}

/** Returns the URL of the first host, to read what all of them share: user, password, database, parameters. */
export function firstHost(url: string): URL {
  return new URL(postgresHosts(url).urls[0]);
}

/** Returns the URL with this password, for all of its hosts. The password may have any characters. */
export function withPostgresPassword(url: string, password: string): string {
  const { begin = '', hosts = '', end = '' } = PARTS.exec(url)?.groups ?? {};
  return `${begin.replace(/:?@$/, '')}:${encodeURIComponent(password)}@${hosts}${end}`;
}

function withoutAttribute(url: string): string {
  if (!url.includes(ATTRIBUTE)) return url;
  return url.replace(/([?&])target_session_attrs=[^&#]*(&?)/, (_, before: string, after: string) =>
    after === '' ? '' : before,
  );
}
