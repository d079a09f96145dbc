import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Where a user agent was seen: browsers of this year, browsers of 2018, crawlers. */
export type UserAgentSource = 'user-agents' | 'user-agents-2018' | 'crawler-user-agents';

export type CorpusUserAgent = {
  userAgent: string;
  source: UserAgentSource;
  /** Share in its source's traffic, 0 to 1; null for crawlers, which are a list. */
  weight: number | null;
  /** The device that the source reports; null for crawlers. */
  device: 'desktop' | 'mobile' | 'tablet' | null;
};

type SeenBrowser = { userAgent: string; weight: number; deviceCategory: 'desktop' | 'mobile' | 'tablet' };
type KnownCrawler = { instances: string[] };

/**
 * Real user agents, each once, from published packages: `user-agents` (BSD-2-Clause, Intoli: a sample of real
 * browser traffic, this year's and the first of 2018, when Android still named its models) and
 * `crawler-user-agents` (MIT, Monperrus: crawlers as they were seen in logs).
 */
export function loadUserAgents(): CorpusUserAgent[] {
  const require = createRequire(import.meta.url);
  // The package's exports hide its data; it lies beside the entry.
  const current = readFileSync(join(dirname(require.resolve('user-agents')), 'user-agents.json'), 'utf8');
  const archive = readFileSync(require.resolve('user-agents-2018/src/user-agents.json.gz'));
  const crawlers = require('crawler-user-agents') as KnownCrawler[];

  const seen = new Map<string, CorpusUserAgent>();
  addBrowsers(seen, 'user-agents', JSON.parse(current) as SeenBrowser[]);
  addBrowsers(seen, 'user-agents-2018', JSON.parse(gunzipSync(archive).toString()) as SeenBrowser[]);
  for (const { instances } of crawlers) {
    for (const userAgent of instances) {
      if (seen.has(userAgent)) continue;
      seen.set(userAgent, { userAgent, source: 'crawler-user-agents', weight: null, device: null });
    }
  }
  return [...seen.values()];
}

function addBrowsers(
  seen: Map<string, CorpusUserAgent>,
  source: Exclude<UserAgentSource, 'crawler-user-agents'>,
  records: readonly SeenBrowser[],
): void {
  for (const { userAgent, weight, deviceCategory } of records) {
    const known = seen.get(userAgent);
    if (known === undefined) seen.set(userAgent, { userAgent, source, weight, device: deviceCategory });
    else if (known.source === source) known.weight = (known.weight ?? 0) + weight;
  }
}
