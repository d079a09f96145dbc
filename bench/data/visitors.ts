import { loadUserAgents } from '../../test/corpora/user-agents.ts';
import { randomFrom, weighted } from './random.ts';

/** A visitor as a request shows them. */
export type Visitor = { userAgent: string; referer: string /** IPv4. */; address: number };

/** Networks of /24 that visitors come from, and how much keener some are than others. */
const NETWORKS = 50_000;
const KEENNESS = 3;
/** Of a hundred visitors so many are crawlers. */
const CRAWLERS = 8;

/** Visitors of social networks, of letters and apps (none), and of a long tail of pages. */
const REFERERS = [
  { weight: 35, referer: () => '' },
  { weight: 15, referer: () => 'https://l.instagram.com/' },
  { weight: 15, referer: () => 'https://www.facebook.com/' },
  { weight: 15, referer: () => 'https://t.co/' },
  { weight: 10, referer: () => 'https://www.google.com/' },
  { weight: 10, referer: (n: number) => `https://blog-${n % 300}.example.com/posts/${n % 5_000}` },
];

/**
 * Visitors without end, the same ones for the same seed: user agents as often as the package `user-agents` has seen
 * them, crawlers among them, addresses all over IPv4 of which some networks send far more than others.
 */
export function visitorsFrom(seed: number): () => Visitor {
  const random = randomFrom(seed);
  const known = loadUserAgents();
  const browsers = known.flatMap(({ userAgent, source, weight }) =>
    source === 'user-agents' ? [{ userAgent, weight: weight ?? 0 }] : [],
  );
  const crawlers = known.filter(({ source }) => source === 'crawler-user-agents');
  const browser = weighted(browsers, random);
  const refererOf = weighted(REFERERS, random);
  return () => {
    const crawler = random() * 100 < CRAWLERS ? crawlers[Math.floor(random() * crawlers.length)] : undefined;
    const network = Math.floor(NETWORKS * random() ** KEENNESS);
    return {
      userAgent: (crawler ?? browser()).userAgent,
      referer: refererOf().referer(Math.floor(random() * 2 ** 30)),
      // Networks spread by a multiplicative hash (Knuth's constant).
      address: ((Math.imul(network + 1, 2_654_435_761) >>> 8) * 256 + Math.floor(random() * 256)) >>> 0,
    };
  };
}

/** The 16 bytes that the event log has for an IPv4 address. */
export function mapped(address: number, into: Buffer = Buffer.alloc(16)): Buffer {
  into.fill(0, 0, 10);
  into.writeUInt16BE(0xffff, 10);
  into.writeUInt32BE(address, 12);
  return into;
}
