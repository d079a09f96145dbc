import { Agent, get } from 'node:http';
import type { ClickRecord } from '../../core/clicks/field-names.ts';
import { untilVisible } from '../faults/accounting.ts';
import { UNUSED_MS } from '../support/clicker.ts';
import type { Ready } from '../support/service.ts';
import { visitNew } from '../support/visitors.ts';
import { type CorpusRequest, corpusRequests } from './clicks.ts';

export type PassedThrough = { sent: CorpusRequest; address: string; stored: ClickRecord };

const CONNECTIONS = 16;

/**
 * Clicks a Smart Link with every request of the corpus, or with each nth (`every`), from addresses across IPv4, and
 * reads every click back through the API. The service must run with `TRUST_PROXY` naming this machine's loopback
 * address.
 *
 * @returns each request with its click
 * @throws Error when a click is missing or was not redirected
 */
export async function corpusThroughService(service: Ready, key: string, every = 1): Promise<PassedThrough[]> {
  const slug = await makeSmartLink(service, key);
  const requests = corpusRequests()
    .map((sent, index) => ({ sent, address: addressOf(index) }))
    .filter((_, index) => index % every === 0);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, timeout: UNUSED_MS });
  const byVisitor = new Map<string, (typeof requests)[number]>();
  const queue = requests.entries();
  const connection = async () => {
    for (const [, request] of queue) {
      byVisitor.set(await click(`${service.short_url}/${slug}`, agent, request), request);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  agent.destroy();

  await untilVisible(service, key, Date.now());
  const passed: PassedThrough[] = [];
  for await (const stored of storedClicks(service, key)) {
    const request = byVisitor.get(stored.visitor_id);
    if (request) passed.push({ ...request, stored });
  }
  if (passed.length !== requests.length) {
    throw new Error(`${passed.length} of ${requests.length} clicks were read back`);
  }
  return passed;
}

async function makeSmartLink(service: Ready, key: string): Promise<string> {
  const answer = await fetch(`${service.api_url}/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ destination_url: 'https://example.com/corpus', name: 'Corpus', smart: true }),
  });
  const { links } = (await answer.json()) as { links: { slug: string }[] };
  const slug = links[0]?.slug;
  if (!slug) throw new Error(`POST /links returned ${answer.status}`);
  await visitNew(`${service.short_url}/${slug}`);
  return slug;
}

function click(url: string, agent: Agent, { sent, address }: Omit<PassedThrough, 'stored'>): Promise<string> {
  const headers: Record<string, string> = { 'user-agent': sent.userAgent, 'x-forwarded-for': address };
  if (sent.referer) headers.referer = sent.referer;
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      response.resume();
      const { location } = response.headers;
      const visitor = location && new URL(location).searchParams.get('_vid');
      if (visitor) resolve(visitor);
      else reject(new Error(`${response.statusCode} for ${JSON.stringify(sent)}`));
    }).once('error', reject);
  });
}

async function* storedClicks(service: Ready, key: string): AsyncGenerator<ClickRecord> {
  for (let before = ''; ; ) {
    const answer = await fetch(
      `${service.api_url}/clicks?limit=500&bots=include${before && `&before=${before}`}`,
      { headers: { authorization: `Bearer ${key}` } },
    );
    const page = (await answer.json()) as { clicks: ClickRecord[]; next_cursor: string | null };
    yield* page.clicks;
    if (page.next_cursor === null) return;
    before = page.next_cursor;
  }
}

/** Spreads by a multiplicative hash (Knuth's constant), so that neighbors are in different networks. */
function addressOf(index: number): string {
  const bits = Math.imul(index + 1, 2_654_435_761) >>> 0;
  return [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255].join('.');
}
