import { expect } from 'vitest';
import type { ProgramRecord } from '../../api/referrals/programs/schemas.ts';
import type { TestApi, TestWorkspace } from './api.ts';
import { type AcceptedMail, linkIn, type MailServer } from './mail-server.ts';
import { applicationsOf, apply, browserAnywhere, openProgram, portalBrowser } from './portal.ts';
import { until } from './until.ts';

export type Visitor = ReturnType<typeof portalBrowser>;
export type Affiliate = Awaited<ReturnType<ReturnType<typeof affiliatesOf>['affiliate']>>;

let people = 0;

/** Affiliates of programs, and how they sign in by the mails that a server accepted. */
export function affiliatesOf(api: TestApi, server: MailServer) {
  const request = (browser: Visitor, { code }: Pick<ProgramRecord, 'code'>, email: string) =>
    browser.post('/portal/sign-in', { code, email, language: 'en' });
  const linksTo = (email: string) =>
    server.mails.filter(
      ({ envelopeTo, subject }) =>
        envelopeTo.includes(email) && subject?.startsWith('Sign in to the portal of '),
    );
  /** Returns the token of the nth mail with a link to sign in. */
  async function tokenTo(email: string, nth = 0): Promise<string> {
    const mail = await until(
      'the mail with a link',
      () => linksTo(email)[nth],
      (found): found is AcceptedMail => found !== undefined,
    );
    return new URL(linkIn(mail, '/sign-in')).hash.slice(1);
  }
  const complete = (browser: Visitor, token: string) => browser.post('/portal/sign-in/complete', { token });
  return {
    request,
    tokenTo,
    complete,
    /** An approved affiliate of a program. @param program of a new one, or the one to join */
    async affiliate(shop: TestWorkspace, program: object | ProgramRecord = {}, given: object = {}) {
      people += 1;
      const email = `affiliate-${people}@friends.example`;
      const made = 'id' in program ? program : await openProgram(shop, { review: 'none' }, program);
      await apply(browserAnywhere(api), made, { email, name: `Affiliate ${people}`, ...given });
      const applied = await applicationsOf(shop, `?program_id=${made.id}`);
      const found = applied.find((one) => one.email === email);
      return {
        email,
        program: made,
        partnerId: found?.partner_id ?? '',
        userId: found?.external_user_id ?? '',
        link: found?.referral_link ?? '',
      };
    },
    /** Returns a browser that is signed in. */
    async signedIn({
      program,
      email,
    }: {
      program: Pick<ProgramRecord, 'code'>;
      email: string;
    }): Promise<Visitor> {
      const browser = portalBrowser(api);
      const earlier = linksTo(email).length;
      expect((await request(browser, program, email)).statusCode).toBe(202);
      expect((await complete(browser, await tokenTo(email, earlier))).statusCode).toBe(200);
      return browser;
    },
  };
}
