import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PIXEL = fileURLToPath(new URL('../../web/dist/pixel.js', import.meta.url));
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.txt': 'text/x-component',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
};
const TAG = '<script async src="/pixel.js?key=pk_live_frameworks"></script>';

const vue = `<!doctype html><title>Shop</title>${TAG}<div id="app"></div>
<script src="/modules/vue/dist/vue.global.prod.js"></script>
<script src="/modules/vue-router/dist/vue-router.global.prod.js"></script>
<script>
  const page = (name) => ({ template: '<h1>' + name + '</h1>' });
  const router = VueRouter.createRouter({
    history: VueRouter.createWebHistory('/vue/'),
    routes: [{ path: '/', component: page('Home') }, { path: '/other/', component: page('Other') }],
  });
  window.router = router;
  Vue.createApp({ template: '<router-view />' }).use(router).mount('#app');
</script>`;

const reactRouter = `<!doctype html><title>Shop</title>${TAG}<div id="app"></div>
<script src="/react-router/out/app.js"></script>`;

const turbo = (name: string) => `<!doctype html><html><head><title>Shop</title>
<script src="/modules/@hotwired/turbo/dist/turbo.es2017-umd.js"></script>${TAG}</head>
<body><h1>${name}</h1><a href="/turbo/">Home</a> <a href="/turbo/other/">Other</a></body></html>`;

/** Where a path of a built application is. */
const BUILT: readonly [prefix: string, directory: string][] = [
  ['/modules/', 'node_modules/'],
  ['/react-router/out/', 'react-router/out/'],
  ['/sveltekit/', 'sveltekit/out/'],
  ['/nuxt/', 'nuxt/.output/public/'],
  ['/', 'next/out/'],
];

/**
 * Serves the built applications of Next at `/`, SvelteKit and Nuxt at `/sveltekit/` and `/nuxt/`, the routers of React
 * and Vue at `/react-router/` and `/vue/`, Turbo at `/turbo/`, and the pixel.
 */
export async function startFrameworkSite(): Promise<{ origin: string; close(): void }> {
  const pixel = readFileSync(PIXEL, 'utf8');
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const send = (type: string, body: string | Buffer) => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    };
    if (pathname === '/collect') return send('application/json', '{"ok":true}');
    if (pathname === '/pixel.js') return send('text/javascript', pixel);
    if (pathname.startsWith('/vue/')) return send('text/html; charset=utf-8', vue);
    if (pathname.startsWith('/turbo/')) {
      return send('text/html; charset=utf-8', turbo(pathname === '/turbo/' ? 'Home' : 'Other'));
    }
    const isPage = !extname(pathname);
    if (/^\/react-router(\/|$)/.test(pathname) && isPage)
      return send('text/html; charset=utf-8', reactRouter);
    const [prefix, directory] = BUILT.find(([one]) => pathname.startsWith(one)) ?? ['/', ''];
    const path = join(HERE, directory, pathname.slice(prefix.length), isPage ? 'index.html' : '');
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
      response.writeHead(404);
      return response.end();
    }
    send(TYPES[extname(path)] ?? 'application/octet-stream', readFileSync(path));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
