import { createRequire } from 'node:module';

export type CorpusReferer = {
  /** An address on the site, as a browser sends it. */
  referer: string;
  /** Name of the site, such as `Facebook`. */
  site: string;
  /** The source's category: `search`, `social`, `email`, `paid` or `unknown`. */
  medium: string;
};

type RefererTable = Record<string, Record<string, { domains: string[]; parameters?: string[] }>>;

/**
 * Real referers, each once: the known referer domains of Snowplow's referer database, as published in
 * `@cgamesplay/referer-parser` (Apache-2.0), search engines with their own search parameter.
 */
export function loadReferers(): CorpusReferer[] {
  const require = createRequire(import.meta.url);
  const table = require('@cgamesplay/referer-parser/data/referers.json') as RefererTable;
  const referers = new Map<string, CorpusReferer>();
  for (const [medium, sites] of Object.entries(table)) {
    for (const [site, { domains, parameters }] of Object.entries(sites)) {
      const parameter = parameters?.[0];
      for (const domain of domains) {
        const path = domain.includes('/') ? '' : '/';
        const query = parameter === undefined ? '' : `?${parameter}=shoes`;
        const referer = `https://${domain}${path}${query}`;
        if (!referers.has(referer)) referers.set(referer, { referer, site, medium });
      }
    }
  }
  return [...referers.values()];
}
