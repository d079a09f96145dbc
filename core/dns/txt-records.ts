import { Resolver } from 'node:dns/promises';

/** The TXT records of a name; `unavailable`: no name server says whether there are any. */
export type TxtAnswer = { kind: 'records'; values: string[] } | { kind: 'unavailable' };

/** Returns the TXT records of a name. It does not throw. */
export type LookUpTxt = (name: string) => Promise<TxtAnswer>;

const QUERY_MS = 2_000;
const TRIES = 2;
/** Codes with which a name server says that there are no such records. */
const NONE = new Set(['ENOTFOUND', 'ENODATA']);

/** @param servers addresses of `DNS_SERVERS`; empty: the system's */
export function createTxtLookup(servers: readonly string[]): LookUpTxt {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return async (name) => {
    try {
      const records = await resolver.resolveTxt(name);
      return { kind: 'records', values: records.map((parts) => parts.join('')) };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      return NONE.has(code) ? { kind: 'records', values: [] } : { kind: 'unavailable' };
    }
  };
}
