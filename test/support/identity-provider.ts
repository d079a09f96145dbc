import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export const CLIENT_ID = 'hoplog';
export const CLIENT_SECRET = 'a secret of the client';

type Claims = Record<string, unknown>;

/** The claims of a person: those of userinfo, and below `idToken` those of the ID token. */
export type Person = Claims & { idToken?: Claims };

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

/**
 * @param callback returns the redirect URI of the client; called at the first request
 * @param path of the issuer, such as `/realms/shop/`
 */
export async function startIdentityProvider(callback: () => string, path = ''): Promise<TestProvider> {
  const people = new Map<string, Person>();
  let tokenRequests = 0;
  const server = createServer();
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}${path}`;
  const mounted = path.replace(/\/$/, '');
  const handler = () =>
    new Provider(issuer, {
      clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [callback()] }],
      claims: {
        email: ['email', 'email_verified'],
        groups: ['groups', 'realm_access', '_claim_names', 'hasgroups'],
        openid: ['sub'],
      },
      // The ID token also has the claims that a test gives a person.
      conformIdTokenClaims: false,
      scopes: ['openid', 'email', 'profile', 'groups'],
      pkce: { required: () => true },
      cookies: { keys: ['a key of the test'] },
      findAccount: (_context: unknown, login: string) => ({
        accountId: login,
        claims: (use: string) => {
          const { idToken = {}, ...userinfo } = people.get(login) ?? {};
          return { sub: login, ...(use === 'id_token' ? idToken : userinfo) };
        },
      }),
    }).callback();
  let handle: ReturnType<typeof handler> | undefined;
  server.on('request', (request, response) => {
    const url = request.url ?? '/';
    if (mounted !== '' && url.startsWith(mounted)) {
      // Sets the URLs as a router does that mounts the provider below a path.
      Object.assign(request, { originalUrl: url, baseUrl: mounted, url: url.slice(mounted.length) || '/' });
    }
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
