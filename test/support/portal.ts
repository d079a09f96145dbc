import type { ApplicationRecord } from '../../api/applications/schemas.ts';
import type { ProgramRecord } from '../../api/referrals/programs/schemas.ts';
import { solve } from '../../web/portal/work.ts';
import type { Answer, TestApi, TestWorkspace } from './api.ts';
import { type ConsoleBrowser, consoleBrowser } from './members.ts';

export type Applications = { applications: ApplicationRecord[]; next_cursor: string | null };

let codes = 0;

/** Creates a program whose portal takes applications. @param portal other settings of the portal */
export async function openProgram(shop: TestWorkspace, portal: object = {}, program: object = {}) {
  codes += 1;
  const code = `friends-${codes}-${Date.now().toString(36)}`;
  const { status, body } = await shop.post<ProgramRecord>('/programs', {
    name: 'Friends',
    code,
    destination_url: 'https://shop.example/welcome',
    commission_rate: 20,
    portal: { is_open: true, ...portal },
    ...program,
  });
  if (status !== 201) throw new Error(`the program was not created: ${JSON.stringify(body)}`);
  return body;
}

let addresses = 0;
/** Returns a browser at a network address of its own. */
export const browserAnywhere = (api: Pick<TestApi, 'app'>): ConsoleBrowser => {
  addresses += 1;
  return consoleBrowser(api, `198.51.${100 + Math.floor(addresses / 250)}.${(addresses % 250) + 1}`);
};

/** Returns a solved challenge, as the page's script solves it. */
export async function solved(browser: ConsoleBrowser): Promise<{ challenge: string; nonce: string }> {
  const { challenge, bits } = (
    await browser.call<{ challenge: string; bits: number }>('POST', '/portal/challenges', { body: {} })
  ).body;
  return { challenge, nonce: await solve(challenge, bits) };
}

/** Applies to a program as its page does. */
export async function apply(
  browser: ConsoleBrowser,
  { code }: Pick<ProgramRecord, 'code'>,
  changes: object = {},
): Promise<Answer<{ ok: true }>> {
  return browser.call('POST', '/portal/applications', {
    body: {
      code,
      email: 'grace@friends.example',
      name: 'Grace',
      language: 'en',
      ...(await solved(browser)),
      ...changes,
    },
  });
}

/** Returns the applications of a workspace, newest first. */
export const applicationsOf = async (shop: TestWorkspace, query = ''): Promise<ApplicationRecord[]> =>
  (await shop.get<Applications>(`/applications${query}`)).body.applications;

/** Returns a browser of an affiliate: it keeps cookies. */
export function portalBrowser({ app }: Pick<TestApi, 'app'>) {
  addresses += 1;
  const remoteAddress = `198.51.${100 + Math.floor(addresses / 250)}.${(addresses % 250) + 1}`;
  const jar = new Map<string, string>();
  const send = async (
    method: 'GET' | 'POST',
    url: string,
    headers: Record<string, string>,
    body?: object,
  ) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await app.inject({
      method,
      url,
      remoteAddress,
      headers: { ...(cookie !== '' && { cookie }), ...headers },
      ...(body && { payload: body }),
    });
    for (const { name, value } of response.cookies) jar.set(name, value);
    return response;
  };
  return {
    /** Calls the API. @param path below `/api/v1` */
    post: (path: string, body: object, headers: Record<string, string> = {}) =>
      send('POST', `/api/v1${path}`, headers, body),
    /** Loads a page. @param path of the page */
    page: (path: string, headers: Record<string, string> = {}) => send('GET', path, headers),
  };
}
