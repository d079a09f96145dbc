import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export const CLIENT_ID = 'hoplog';
export const CLIENT_SECRET = 'a secret of the client';

/** The claims of a person, by login. */
export type Person = { email?: string; email_verified?: boolean; groups?: string[] };

/** A running OpenID Connect provider of the test's own. */
export type TestProvider = {
  issuer: string;
  /** Persons by login, which is also their `sub`; changed at any time. */
  people: Map<string, Person>;
  /** Requests to the token endpoint. */
  tokenRequests: () => number;
  /** Signs a person in as a browser would, from the address of the authorization on. Returns the callback's address. */
  visit(url: string, login: string): Promise<string>;
  /** Refuses connections until {@link TestProvider.resume}. */
  stop(): Promise<void>;
  resume(): Promise<void>;
};

/** @param callback returns the redirect URI of the client; called at the first request */
export async function startIdentityProvider(callback: () => string): Promise<TestProvider> {
  const people = new Map<string, Person>();
  let tokenRequests = 0;
  const server = createServer();
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const handler = () =>
    new Provider(issuer, {
      clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [callback()] }],
      claims: { email: ['email', 'email_verified'], groups: ['groups'], openid: ['sub'] },
      scopes: ['openid', 'email', 'profile', 'groups'],
      pkce: { required: () => true },
      cookies: { keys: ['a key of the test'] },
      findAccount: (_context: unknown, login: string) => ({
        accountId: login,
        claims: () => ({ sub: login, ...people.get(login) }),
      }),
    }).callback();
  let handle: ReturnType<typeof handler> | undefined;
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/token')) tokenRequests += 1;
    handle ??= handler();
    handle(request, response);
  });

  return {
    issuer,
    people,
    tokenRequests: () => tokenRequests,
    async visit(url, login) {
      const cookies = new Map<string, string>();
      const send = async (target: string, form?: Record<string, string>) => {
        const response = await fetch(target, {
          redirect: 'manual',
          headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
          ...(form && { method: 'POST', body: new URLSearchParams(form) }),
        });
        for (const set of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
          cookies.set(name, value);
        }
        const location = response.headers.get('location');
        return {
          text: await response.text(),
          location: location === null ? null : new URL(location, target).href,
        };
      };
      for (let at = url, hops = 0; hops < 15; hops++) {
        if (at.startsWith(callback())) return at;
        const page = await send(at);
        if (page.location === null) {
          const prompt = page.text.includes('value="login"') ? 'login' : 'consent';
          const answer = await send(at, { prompt, login, password: 'any' });
          if (answer.location === null) throw new Error(`the provider refused the form: ${answer.text}`);
          at = answer.location;
        } else {
          at = page.location;
        }
      }
      throw new Error(`the provider did not return from ${url}`);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    resume: () => listen(port),
  };
}
