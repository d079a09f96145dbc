import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Config } from '../core/settings/config.ts';
import type { createCollectHandlers } from './collect/handler.ts';
import type { createHealth } from './health.ts';
import type { Exchanges } from './http/exchange.ts';
import { createFraming } from './http/framing.ts';
import type { createPasswordHandler } from './password/handler.ts';
import type { createPixelScript } from './pixel-script.ts';
import type { RedirectHandler } from './redirect/handler.ts';
import type { OwnHost } from './redirect/own-host.ts';

type Handler = (res: HttpResponse, req: HttpRequest, head: boolean) => void;

/**
 * `robots.txt` by the setting. Preview bots obey it: X shows no card of an address that its bot may not read
 * (developer.x.com, "Getting started with cards").
 */
const ROBOTS: Record<Config['robots'], string> = {
  all: 'User-agent: *\nDisallow: /collect\n',
  none: 'User-agent: *\nDisallow: /\n',
};

/** Adds every path of the short-link origin. A path without a route of its own is a slug. */
export function addRoutes(
  server: TemplatedApp,
  given: {
    exchanges: Exchanges;
    redirect: RedirectHandler;
    ownHost: OwnHost;
    password: ReturnType<typeof createPasswordHandler>;
    collect: ReturnType<typeof createCollectHandlers>;
    pictures: Handler;
    pixelScript: ReturnType<typeof createPixelScript>;
    health: ReturnType<typeof createHealth>;
    robots: Config['robots'];
    /** Whether all connections are from trusted proxies. */
    behindProxies(): boolean;
  },
): void {
  const { exchanges, redirect, ownHost, password, collect, pictures, pixelScript, health } = given;
  const { robots, behindProxies } = given;
  type Route = (res: HttpResponse, req: HttpRequest) => void;
  const clear = createFraming(exchanges, behindProxies);
  const app = {
    get: (path: string, handle: Route) => server.get(path, clear(handle, true)),
    head: (path: string, handle: Route) => server.head(path, clear(handle, true)),
    post: (path: string, handle: Route) => server.post(path, clear(handle, false)),
    options: (path: string, handle: Route) => server.options(path, clear(handle, false)),
    any: (path: string, handle: Route) => server.any(path, clear(handle, false)),
  };

  const refuse = (res: HttpResponse, req: HttpRequest) =>
    exchanges.reply(exchanges.open(res, req.getMethod() === 'head'), '405 Method Not Allowed', [
      ['Allow', 'GET, HEAD'],
    ]);

  function read(
    path: string,
    handler: Handler,
    post: (res: HttpResponse, req: HttpRequest) => void = refuse,
  ): void {
    app.get(path, (res, req) => handler(res, req, false));
    app.head(path, (res, req) => handler(res, req, true));
    // The server prefers a method's route to a longer path of any method, so each path names its methods.
    app.post(path, post);
    app.any(path, refuse);
  }

  read('/health/live', health.live);
  read('/health/ready', (res, _req, head) => health.ready(res, head));
  read('/pixel.js', pixelScript);
  read('/p.js', pixelScript);
  read('/robots.txt', (res, _req, head) =>
    exchanges.reply(
      exchanges.open(res, head),
      '200 OK',
      [
        ['Content-Type', 'text/plain; charset=utf-8'],
        ['Cache-Control', 'public, max-age=86400'],
      ],
      ROBOTS[robots],
    ),
  );
  // Browsers request it for every page.
  read('/favicon.ico', (res, _req, head) =>
    exchanges.reply(exchanges.open(res, head), '404 Not Found', [['Cache-Control', 'public, max-age=86400']]),
  );
  // Other methods of API calls; the slug `api` is reserved. GET, HEAD, and POST come to the handlers of all slugs.
  for (const path of ['/api', '/api/*']) {
    app.any(path, (res, req) => ownHost.refuseApiCall(exchanges.open(res, req.getMethod() === 'head')));
  }
  app.options('/collect', collect.preflight);
  app.post('/collect', collect.post);
  app.get('/collect', collect.other);
  app.head('/collect', collect.other);
  app.any('/collect', collect.other);
  read('/assets/:name', pictures, password);
  read('/*', redirect.handle, password);
}
