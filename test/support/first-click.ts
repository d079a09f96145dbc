import type { Ready } from './service.ts';
import { LIMIT_MS, until } from './until.ts';

export type Link = { id: string; short_url: string; slug: string };
export type Click = { id: string; link_id: string; ts: string };

/** Creates a link through the API. */
export async function makeLink(service: Ready, key: string, name: string): Promise<Link> {
  const response = await fetch(`${service.api_url}/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ destination_url: 'https://example.com/landing', name, channel: 'twitter' }),
  });
  if (response.status !== 201)
    throw new Error(`POST /links returned ${response.status}: ${await response.text()}`);
  const { links } = (await response.json()) as { links: Link[] };
  const [link] = links;
  if (!link) throw new Error('POST /links created no link');
  return link;
}

/** Follows a link as a browser does, up to its response; the redirect itself is not followed. */
export async function follow(link: Link): Promise<{ status: number; location: string }> {
  const response = await fetch(link.short_url, {
    redirect: 'manual',
    headers: {
      'user-agent':
        'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
    },
  });
  await response.body?.cancel();
  return { status: response.status, location: response.headers.get('location') ?? '' };
}

/** Returns the newest clicks of a link from the API. */
export async function clicksOf(service: Ready, key: string, link: Link): Promise<Click[]> {
  const response = await fetch(`${service.api_url}/clicks?link_id=${link.id}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok) throw new Error(`GET /clicks returned ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { clicks: Click[] }).clicks;
}

/** Waits until the API returns this many clicks of the link. While a database is down it returns an error instead. */
export async function untilClicks(
  service: Ready,
  key: string,
  link: Link,
  count: number,
  timeoutMs = LIMIT_MS,
): Promise<Click[]> {
  const read = () => clicksOf(service, key, link).catch((error: Error) => error);
  const areAll = (seen: Click[] | Error): seen is Click[] => Array.isArray(seen) && seen.length >= count;
  return await until(`${count} visible clicks`, read, areAll, { timeoutMs, intervalMs: 100 });
}
