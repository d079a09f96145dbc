import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { passwordMatches } from '../../core/access/passwords.ts';
import { cleanReferer } from '../../core/enrich/referer.ts';
import { readBody } from '../http/body.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { IngestMetrics, RedirectOutcome } from '../metrics.ts';
import type { Page } from '../pages/layout.ts';
import type { Pages } from '../pages/pages.ts';
import type { CompiledLink } from '../redirect/compiled-link.ts';
import type { RedirectHandler } from '../redirect/handler.ts';
import type { LinkPolicy } from '../redirect/link-policy.ts';
import { readVisit, type Visit } from '../redirect/visit.ts';
import type { Attempts } from './attempts.ts';
import type { PasswordGate } from './gate.ts';

/** The longest password and the longest referer, whose characters (ASCII, in browsers) a form may send as three each. */
const BODY_LIMIT = 16 * 1024;
/** The thread pool has four threads, and the journal needs some of them: hashing never takes all. */
const CHECKS_AT_ONCE = 2;
const MOST_WAITING = 100;

type Submitted = { link: CompiledLink; hash: string; visit: Visit; exchange: Exchange; password: string };

/** `POST /<slug>`: what the password form sends. */
export function createPasswordHandler(given: {
  exchanges: Exchanges;
  clientAddress: ClientAddress;
  redirect: RedirectHandler;
  linkPolicy: LinkPolicy;
  gate: PasswordGate;
  attempts: Attempts;
  metrics: IngestMetrics;
  pages: Pages;
  /** Origin of short links. */
  shortUrl: string;
}): (res: HttpResponse, req: HttpRequest) => void {
  const { exchanges, clientAddress, redirect, linkPolicy, gate, attempts, metrics, pages, shortUrl } = given;
  const waiting: (() => void)[] = [];
  let checking = 0;

  function show(exchange: Exchange, outcome: RedirectOutcome, status: string, page: Page): void {
    metrics.countOutcome(outcome);
    exchanges.reply(exchange, status, page.headers, page.body);
  }

  function showUnavailable(exchange: Exchange): void {
    show(exchange, 'unavailable', '503 Service Unavailable', pages.unavailable);
  }

  async function check(password: string, hash: string): Promise<boolean> {
    if (checking >= CHECKS_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else checking += 1;
    try {
      return await passwordMatches(password, hash);
    } finally {
      const next = waiting.shift();
      if (next === undefined) checking -= 1;
      else next();
    }
  }

  async function answer({ link, hash, visit, exchange, password }: Submitted): Promise<void> {
    const attempt = await attempts.begin(link.idText, visit.address);
    if (attempt === 'blocked') {
      return show(exchange, 'too_many_attempts', '429 Too Many Requests', pages.tooManyAttempts);
    }
    if (attempt === 'busy') return showUnavailable(exchange);
    let right = true;
    try {
      if (exchange.over) return;
      if (waiting.length >= MOST_WAITING) return showUnavailable(exchange);
      right = await check(password, hash);
    } finally {
      attempt.end(!right);
    }
    if (!right) {
      return show(exchange, 'wrong_password', '401 Unauthorized', pages.wrongPassword(visit.referer));
    }
    if (!exchange.over) linkPolicy.pass(link, visit, exchange, gate.cookieFor(link));
  }

  return (res, req) => {
    const sent = readVisit(req, res, false, clientAddress, metrics.startTiming());
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
          // Its form was shown before the link lost its password.
          linkPolicy.visit(link, visit, exchange);
        } else if (link.passwordHash === null) {
          exchanges.reply(exchange, '405 Method Not Allowed', [['Allow', 'GET, HEAD']]);
        } else if (!linkPolicy.respondedAsExpired(link, exchange)) {
          const submitted = { link, hash: link.passwordHash, visit, exchange, password };
          exchanges.after(exchange, answer(submitted), () => undefined);
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
 * Where a visitor came from who has sent the form. The request itself says that they came from the form, on one of
 * these origins, or nothing; the form says what its own request did. As any referer it is what the client says.
 */
function refererOf({ referer }: Visit, form: URLSearchParams, origins: string[]): string {
  const fromForm = referer === '' || origins.some((origin) => referer.startsWith(`${origin}/`));
  const first = form.get('referer');
  return fromForm && first !== null ? cleanReferer(first) : referer;
}
