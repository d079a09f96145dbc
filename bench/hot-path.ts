import { createAgentKinds } from '../core/enrich/agent-kinds.ts';
import { isBot } from '../core/enrich/bots.ts';
import { isMobile } from '../core/enrich/devices.ts';
import { openGeo } from '../core/enrich/geo.ts';
import { inferChannel } from '../core/enrich/infer-channel.ts';
import { createUserAgents, parseUserAgent } from '../core/enrich/user-agents.ts';
import { bytesToUuid } from '../core/ids.ts';
import { createVisitorIds, parseVisitorCookie, visitorCookie } from '../core/tracking/visitors.ts';
import { Destination } from '../ingest/redirect/redirect-url.ts';
import { corpusClicks } from '../test/corpora/clicks.ts';

/**
 * Measures the pure functions of redirects and enrichment over the corpus: calls per second on one core, best of three
 * runs.
 *
 *   node bench/hot-path.ts
 */

const clicks = corpusClicks();
const geo = openGeo();
const userAgents = createUserAgents();
const agentKinds = createAgentKinds();
const visitorIds = createVisitorIds(Buffer.alloc(32, 1));
const ofWorkspace = visitorIds.forWorkspace(new Uint8Array(16));
const { id: cookie, idText: vid, cookieText } = ofWorkspace.newVisitor();
const header = `theme=dark; ${visitorCookie(cookieText, true).split(';')[0]}; lang=en`;
const utm = { utm_source: 'twitter', utm_medium: 'social', utm_campaign: 'Spring Sale' };
const destination = 'https://shop.example.com/products/shoes?size=42#reviews';
const prepared = new Destination(destination, utm);
const visitorQuery = 'fbclid=IwAR0xYz_123&gclid=abc&utm_source=evil';

const MEASURED: [name: string, calls: number, run: (index: number) => unknown][] = [
  ['isBot', 300_000, (i) => isBot(click(i).userAgent, 0)],
  ['isMobile', 300_000, (i) => isMobile(click(i).userAgent)],
  ['agentKinds (remembered)', 1_000_000, (i) => agentKinds(click(i).userAgent)],
  ['userAgents.profileOf (remembered)', 1_000_000, (i) => userAgents.profileOf(click(i).userAgent)],
  ['parseUserAgent (not remembered)', 10_000, (i) => parseUserAgent(click(i).userAgent)],
  ['inferChannel', 300_000, (i) => inferChannel(click(i).referer, click(i).userAgent)],
  ['geo.placeOf (remembered)', 1_000_000, (i) => geo.placeOf(click(i).address)],
  ['new Destination', 100_000, () => new Destination(destination, utm)],
  ['redirect without a query', 3_000_000, () => prepared.urlFor('', vid)],
  ['redirect with a query', 300_000, () => prepared.urlFor(visitorQuery, vid)],
  ['visitorIds.forWorkspace().idOf', 1_000_000, () => ofWorkspace.idOf(cookie)],
  ['visitorIds.forWorkspace().newVisitor', 1_000_000, () => ofWorkspace.newVisitor()],
  ['bytesToUuid', 1_000_000, () => bytesToUuid(cookie)],
  ['parseVisitorCookie', 1_000_000, () => parseVisitorCookie(header)],
];

process.stdout.write(`${'function'.padEnd(36)} ${'calls/s'.padStart(12)}\n`);
for (const [name, calls, run] of MEASURED) {
  const best = Math.max(...[1, 2, 3].map(() => rateOf(calls, run)));
  process.stdout.write(`${name.padEnd(36)} ${Math.round(best).toLocaleString('en').padStart(12)}\n`);
}

function click(index: number) {
  const found = clicks[index % clicks.length];
  if (found === undefined) throw new Error('the corpus is empty');
  return found;
}

function rateOf(calls: number, run: (index: number) => unknown): number {
  // Uses the results; otherwise the compiler removes the calls.
  let seen = 0;
  const started = performance.now();
  for (let index = 0; index < calls; index++) if (run(index) !== undefined) seen += 1;
  return (seen * 1_000) / (performance.now() - started);
}
