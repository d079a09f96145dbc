/**
 * Serves a merchant's site with the referral dashboard.
 *
 *     node examples/embed/server.ts <publishable key> [secret key] [app_url]
 */
import { createServer } from 'node:http';
import { iframePage, type SignedIn, scriptPage } from './pages.ts';

const PORT = Number(process.env.PORT ?? 4000);
const LOCAL = 'http://127.0.0.1:3000';

/** Sessions of the site. The user must come from the session, never from the URL. */
const ADA: SignedIn = { id: 'ada', email: 'ada@example.com', tier: 'paid' };
const GRACE: SignedIn = { id: 'grace', email: 'grace@example.com', tier: 'free' };
const USERS = new Map([ADA, GRACE].map((user) => [user.id, user]));

const given = process.argv.slice(2);
const publishable = given.find((argument) => argument.startsWith('pk_'));
const secret = given.find((argument) => argument.startsWith('lk_'));
const appUrl = given.find((argument) => argument.startsWith('http'))?.replace(/\/$/, '') ?? LOCAL;
if (!publishable) {
  console.error('usage: npx node examples/embed/server.ts <publishable key> [secret key] [app_url]');
  process.exit(2);
}
if (secret) await makeProgram(secret);

createServer((request, response) => {
  const { pathname, searchParams } = new URL(`http://localhost${request.url}`);
  const user = USERS.get(searchParams.get('user') ?? '') ?? ADA;
  const look = searchParams.get('theme') === 'dark' ? 'dark' : 'light';
  const render = { '/': scriptPage, '/iframe': iframePage }[pathname];
  if (!render) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  response.end(render(appUrl, publishable, user, look));
}).listen(PORT, '127.0.0.1', () => {
  console.log(`http://localhost:${PORT} (script), http://localhost:${PORT}/iframe`);
});

/** Creates a program if the workspace has none. */
async function makeProgram(key: string): Promise<void> {
  const call = async (body?: object) => {
    const answer = await fetch(`${appUrl}/api/v1/programs`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`/programs answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { programs?: unknown[] };
  };
  const { programs = [] } = await call();
  if (programs.length > 0) return;
  await call({
    name: 'Friends',
    destination_url: 'https://example.com/welcome',
    credit_enabled: true,
    signup_credit: { free: 5, paid: 10 },
    purchase_credit: 20,
    commission_type: 'percent',
    commission_rate: 20,
    allow_affiliate_upgrade: true,
    payout_methods: ['paypal', 'wise'],
    min_payout: 50,
  });
}
