import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { passwordMatches } from '../../core/access/passwords.ts';
import { cleanReferer } from '../../core/enrich/referer.ts';
import { bytesToUuid } from '../../core/ids.ts';
import { readBody } from '../http/body.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { Hosts } from '../link-table/hosts.ts';
import type { IngestMetrics, RedirectOutcome } from '../metrics.ts';
import type { Page } from '../pages/layout.ts';
import type { Pages, VisitorPages } from '../pages/pages.ts';
import type { CompiledLink } from '../redirect/compiled-link.ts';
import type { RedirectHandler } from '../redirect/handler.ts';
import type { LinkPolicy } from '../redirect/link-policy.ts';
import { readVisit, type Visit } from '../redirect/visit.ts';
import type { Attempts } from './attempts.ts';
import type { PasswordGate } from './gate.ts';
import type { KnownVisitors } from './known-visitors.ts';
import type { SharedAttempts } from './shared-attempts.ts';

/** Room for the longest password and referer, each ASCII character escaped as three. */
const BODY_LIMIT = 16 * 1024;
/** Hashing must leave some of the four threads of the pool to the journal. */
const CHECKS_AT_ONCE = 2;
const MOST_WAITING = 100;

type Submitted = {
  link: CompiledLink;
  linkId: string;
  /** Hash of the link's password. */
  hash: string;
  address: Uint8Array;
  visit: Visit;
  exchange: Exchange;
  password: string;
  wasLetIn: boolean;
};

/** Handles `POST /<slug>` of the password form. */
export function createPasswordHandler(given: {
  exchanges: Exchanges;
  clientAddress: ClientAddress;
  hosts: Hosts;
  redirect: RedirectHandler;
  linkPolicy: LinkPolicy;
  gate: PasswordGate;
  attempts: Attempts;
  sharedAttempts: SharedAttempts;
  knownVisitors: KnownVisitors;
  metrics: IngestMetrics;
  pages: VisitorPages;
  /** Origin of short links. */
  shortUrl: string;
}): (res: HttpResponse, req: HttpRequest) => void {
  const { exchanges, clientAddress, hosts, redirect, linkPolicy, gate, metrics, pages, shortUrl } = given;
  const { attempts, sharedAttempts, knownVisitors } = given;
  const waiting: (() => void)[] = [];
  let checking = 0;

  function respondWith(exchange: Exchange, outcome: RedirectOutcome, status: string, page: Page): void {
    metrics.countOutcome(outcome);
    exchanges.reply(exchange, status, page.headers, page.body);
  }

  const pagesOf = ({ link, visit }: Pick<Submitted, 'link' | 'visit'>): Pages =>
    pages.of(visit, link.workspaceId);

  function respondUnavailable(submitted: Submitted): void {
    const { unavailable } = pagesOf(submitted);
    respondWith(submitted.exchange, 'unavailable', '503 Service Unavailable', unavailable);
  }

  async function check(submitted: Submitted): Promise<'right' | 'wrong' | 'blocked'> {
    if (checking >= CHECKS_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else checking += 1;
    try {
      const wasRight = await countCheck(submitted);
      if (wasRight === null) return 'blocked';
      if (!(await passwordMatches(submitted.password, submitted.hash))) return 'wrong';
      await wasRight();
      knownVisitors.add(submitted);
      return 'right';
    } finally {
      const next = waiting.shift();
      if (next === undefined) checking -= 1;
      else next();
    }
  }

  async function countCheck(submitted: Submitted): Promise<(() => Promise<void>) | null> {
    const { link, linkId, address, wasLetIn } = submitted;
    const guess = { workspaceId: bytesToUuid(link.workspaceId), linkId, address, wasLetIn };
    const wasRight = await sharedAttempts.begin(guess);
    if (wasRight !== null || wasLetIn || !(await knownVisitors.find(submitted))) return wasRight;
    return sharedAttempts.begin({ ...guess, wasLetIn: true });
  }

  function respondBlocked(submitted: Submitted): void {
    const { tooManyAttempts } = pagesOf(submitted);
    respondWith(submitted.exchange, 'too_many_attempts', '429 Too Many Requests', tooManyAttempts);
  }

  async function respond(submitted: Submitted): Promise<void> {
    const { link, linkId, visit, exchange, address, wasLetIn } = submitted;
    const attempt = await attempts.begin(linkId, address, wasLetIn);
    if (attempt === 'locked') {
      sharedAttempts.noteLock(bytesToUuid(link.workspaceId), linkId);
      if (await knownVisitors.find(submitted)) return respond({ ...submitted, wasLetIn: true });
    }
    if (attempt === 'blocked' || attempt === 'locked') return respondBlocked(submitted);
    if (attempt === 'busy') return respondUnavailable(submitted);
    let outcome: 'unchecked' | 'right' | 'wrong' | 'blocked' = 'unchecked';
    try {
      if (exchange.over) return;
      if (waiting.length >= MOST_WAITING) return respondUnavailable(submitted);
      outcome = await check(submitted);
    } finally {
      attempt.end(outcome === 'blocked' ? 'unchecked' : outcome);
    }
    if (outcome === 'blocked') return respondBlocked(submitted);
    if (outcome === 'wrong') {
      const page = pagesOf(submitted).wrongPassword(visit.referer);
      return respondWith(exchange, 'wrong_password', '401 Unauthorized', page);
    }
    if (!exchange.over) linkPolicy.pass(link, visit, exchange, gate.cookieFor(link, visit.isHttps));
  }

  return (res, req) => {
    const sent = readVisit(req, res, false, clientAddress, hosts, metrics.startTiming());
    const host = req.getHeader('host');
    const exchange = exchanges.open(res, false);
    const submit = (form: URLSearchParams) => {
      const visit = {
        ...sent,
        referer: refererOf(sent, form, [shortUrl, `http://${host}`, `https://${host}`]),
      };
      const password = form.get('password') ?? '';
      redirect.withLink(visit, exchange, (link) => {
        if (link.passwordHash === null && form.has('password')) {
          // The link lost its password after the form was shown.
          linkPolicy.visit(link, visit, exchange);
        } else if (link.passwordHash === null) {
          exchanges.reply(exchange, '405 Method Not Allowed', [['Allow', 'GET, HEAD']]);
        } else if (visit.isFramed) {
          // The form came from another page in a frame: its password is not read.
          respondWith(exchange, 'form', '200 OK', pagesOf({ link, visit }).framedPasswordForm);
        } else if (!linkPolicy.respondedAsExpired(link, visit, exchange)) {
          const visitor = { linkId: link.idText, hash: link.passwordHash, address: visit.address };
          const wasLetIn = gate.wasLetIn(link, visit.cookie) || knownVisitors.has(visitor);
          const submitted = { ...visitor, link, visit, exchange, password, wasLetIn };
          exchanges.after(exchange, respond(submitted), () => undefined);
        }
      });
    };
    readBody(res, BODY_LIMIT, (body) => {
      if (body === null) exchanges.reply(exchange, '413 Payload Too Large', []);
      else exchanges.guard(exchange, () => submit(new URLSearchParams(body.toString('utf8'))));
    });
  };
}

/**
 * Returns the referer of the visit that showed the form, which the form sends along. The request's own referer is the
 * form's page or empty.
 */
function refererOf({ referer }: Visit, form: URLSearchParams, origins: string[]): string {
  const fromForm = referer === '' || origins.some((origin) => referer.startsWith(`${origin}/`));
  const first = form.get('referer');
  return fromForm && first !== null ? cleanReferer(first) : referer;
}
