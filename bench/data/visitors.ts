import { seededRandom } from '../../core/seeded-random.ts';
import { loadUserAgents } from '../../test/corpora/user-agents.ts';
import { weighted } from './weighted.ts';

/** Request fields of a visitor. */
export type Visitor = {
  userAgent: string;
  referer: string;
  /** The value of `Accept-Language`. */
  languages: string;
  /** IPv4. */
  address: number;
};

/** Number of /24 networks of visitors, and the skew of their use. */
const NETWORKS = 50_000;
const KEENNESS = 3;
/** Percentage of crawlers. */
const CRAWLERS = 8;

/** Referers of social networks, of emails and apps (none), and of a long tail of pages. */
const REFERERS = [
  { weight: 35, referer: () => '' },
  { weight: 15, referer: () => 'https://l.instagram.com/' },
  { weight: 15, referer: () => 'https://www.facebook.com/' },
  { weight: 15, referer: () => 'https://t.co/' },
  { weight: 10, referer: () => 'https://www.google.com/' },
  { weight: 10, referer: (n: number) => `https://blog-${n % 300}.example.com/posts/${n % 5_000}` },
];

const LANGUAGES = [
  { weight: 45, languages: 'en-US,en;q=0.9' },
  { weight: 10, languages: 'en-GB,en;q=0.9' },
  { weight: 15, languages: 'de-DE,de;q=0.9,en;q=0.8' },
  { weight: 10, languages: 'fr-FR,fr;q=0.9' },
  { weight: 10, languages: 'es-ES,es;q=0.9,en;q=0.8' },
  { weight: 6, languages: 'pt-BR,pt;q=0.9' },
  { weight: 4, languages: 'ja' },
];

/**
 * Generates an endless seeded sequence of visitors: user agents by their frequency in the package `user-agents`,
 * crawlers, and IPv4 addresses of networks with skewed use.
 */
export function visitorsFrom(seed: number): () => Visitor {
  const random = seededRandom(seed);
  const known = loadUserAgents();
  const browsers = known.flatMap(({ userAgent, source, weight }) =>
    source === 'user-agents' ? [{ userAgent, weight: weight ?? 0 }] : [],
  );
  const crawlers = known.filter(({ source }) => source === 'crawler-user-agents');
  const browser = weighted(browsers, random);
  const languagesOf = weighted(LANGUAGES, random);
  const refererOf = weighted(REFERERS, random);
  return () => {
    const crawler = random() * 100 < CRAWLERS ? crawlers[Math.floor(random() * crawlers.length)] : undefined;
    const network = Math.floor(NETWORKS * random() ** KEENNESS);
    return {
      userAgent: (crawler ?? browser()).userAgent,
      referer: refererOf().referer(Math.floor(random() * 2 ** 30)),
      languages: languagesOf().languages,
      // Networks spread by a multiplicative hash (Knuth's constant).
      address: ((Math.imul(network + 1, 2_654_435_761) >>> 8) * 256 + Math.floor(random() * 256)) >>> 0,
    };
  };
}

/** Returns the 16 bytes of an IPv4 address in the event log. */
export function mapped(address: number, into: Buffer = Buffer.alloc(16)): Buffer {
  into.fill(0, 0, 10);
  into.writeUInt16BE(0xffff, 10);
  into.writeUInt32BE(address, 12);
  return into;
}
