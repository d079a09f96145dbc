import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A page of the site: its HTML, and headers where it needs some. */
export type SitePage = string | { html: string; headers?: Record<string, string> };

export type PagesSite = {
  port: number;
  /** Serves `html` at `/<name>`. Returns the path. */
  put(name: string, page: SitePage): string;
  /** Lets `/held/*` respond. */
  release(): void;
  close(): void;
};

/**
 * A site whose pages a test writes. `/hop/*` passes on to the short links, as a proxy of a shop does; so does
 * `/held/*`, once it is released. `/hang` never responds.
 */
export async function startPages(shortUrl: string): Promise<PagesSite> {
  const pages = new Map<string, SitePage>();
  const held = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    if (pathname === '/hang') return void request.resume();
    if (pathname.startsWith('/hop/')) return void passOn(shortUrl, '/hop', request, response);
    if (pathname === '/held/collect') {
      await held.promise;
      return void passOn(shortUrl, '/held', request, response);
    }
    const page = pages.get(pathname);
    const { html, headers = {} } = typeof page === 'string' ? { html: page } : (page ?? { html: '' });
    const type = pathname.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8';
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': type, ...headers });
    response.end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    put(name, page) {
      pages.set(`/${name}`, page);
      return `/${name}`;
    },
    release: held.resolve,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function passOn(
  shortUrl: string,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const passed = await fetch(shortUrl + (request.url ?? '').slice(path.length), {
    method: request.method ?? 'GET',
    headers: { 'content-type': request.headers['content-type'] ?? '' },
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  });
  response.writeHead(passed.status, { 'content-type': passed.headers.get('content-type') ?? '' });
  response.end(Buffer.from(await passed.arrayBuffer()));
}
