import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Shop = { port: number; close(): void };

/**
 * A shop's site on a port of its own, which is another origin.
 *
 * @param head content of every page's head, besides the title `Shop`
 * @param moved paths that redirect to others: shops redirect visitors too, to their language, to an app store
 */
export async function startShop(head = '', moved: Record<string, string> = {}): Promise<Shop> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://shop');
    if (pathname in moved) response.writeHead(302, { location: moved[pathname] });
    else response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Shop</title>${head}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
