import type { Role } from '../../core/access/roles.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import { createInvite } from '../../sql/console/invites.ts';
import type { Answer, CallOptions, ErrorBody, TestApi, TestWorkspace } from './api.ts';

export const PASSWORD = 'correct horse battery';

type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE';

/** A console browser: stores the session's cookie and its CSRF token, and sends both as the console does. */
export type ConsoleBrowser = {
  /** The cookie's value; null: signed out. */
  token: string | null;
  csrf: string;
  /** The last `Set-Cookie`. */
  setCookie: string;
  call<T = ErrorBody>(method: Method, path: string, options?: Omit<CallOptions, 'key'>): Promise<Answer<T>>;
};

/** Returns a signed-out browser. @param address source address of its calls */
export function consoleBrowser({ app }: Pick<TestApi, 'app'>, address = '203.0.113.7'): ConsoleBrowser {
  const browser: ConsoleBrowser = {
    token: null,
    csrf: '',
    setCookie: '',
    async call<T>(method: Method, path: string, { body, headers = {} }: Omit<CallOptions, 'key'> = {}) {
      const response = await app.inject({
        method,
        url: `/api/v1${path}`,
        remoteAddress: address,
        headers: {
          ...(browser.token !== null && { cookie: cookiesOf(browser.token) }),
          ...(browser.csrf !== '' && { 'x-csrf-token': browser.csrf }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: body as object }),
      });
      const [set] = [response.headers['set-cookie'] ?? []].flat();
      if (set !== undefined) {
        browser.setCookie = set;
        browser.token = /^(?:__Host-)?hoplog_session=([^;]*)/.exec(set)?.[1] || null;
      }
      const isJson = String(response.headers['content-type']).startsWith('application/json');
      const parsed = isJson && response.body !== '' ? response.json() : response.body;
      browser.csrf = parsed?.csrf_token ?? parsed?.session?.csrf_token ?? browser.csrf;
      return {
        status: response.statusCode,
        body: parsed as T,
        text: response.body,
        headers: response.headers,
      };
    },
  };
  return browser;
}

/** Returns the token of a new invitation. */
export async function invite(
  { stores }: Pick<TestApi, 'stores'>,
  { workspace }: Pick<TestWorkspace, 'workspace'>,
  { role = 'owner', email = null }: { role?: Role; email?: string | null } = {},
): Promise<string> {
  const given = { workspaceId: workspace.id, role, email: email === null ? null : normalizeEmail(email) };
  return (await createInvite(stores.pool, given)).token;
}

let made = 0;

/** Returns a browser in which a new member of this role is signed in, by an invitation and a password. */
export async function signedInAs(
  api: TestApi,
  workspace: TestWorkspace,
  role: Role,
  { email = `${role}-${++made}@members.example`, address }: { email?: string; address?: string } = {},
): Promise<ConsoleBrowser & { email: string; id: string }> {
  const browser = consoleBrowser(api, address);
  const token = await invite(api, workspace, { role, email });
  const answer = await browser.call<{ member: { id: string } }>('POST', '/session/invite', {
    body: { token, password: PASSWORD },
  });
  if (answer.status !== 200) throw new Error(`the invitation failed: ${answer.text}`);
  return Object.assign(browser, { email, id: answer.body.member.id });
}

/** Returns a session's cookies under its name on http and on https; the API reads the one of its own origin. */
export function cookiesOf(token: string | null): string {
  return `hoplog_session=${token}; __Host-hoplog_session=${token}`;
}
