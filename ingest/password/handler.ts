import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { passwordMatches } from '../../core/passwords.ts';
import { readBody } from '../http/body.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { IngestMetrics, RedirectOutcome } from '../metrics.ts';
import type { Page } from '../pages/layout.ts';
import type { Pages } from '../pages/pages.ts';
import type { CompiledLink } from '../redirect/compiled-link.ts';
import type { FollowLink } from '../redirect/follow-link.ts';
import type { RedirectHandler } from '../redirect/handler.ts';
import { readVisit, type Visit } from '../redirect/visit.ts';
import type { Attempts } from './attempts.ts';
import type { PasswordGate } from './gate.ts';

const BODY_LIMIT = 4_096;
/** The thread pool has four threads, and the journal needs some of them: hashing never takes all. */
const CHECKS_AT_ONCE = 2;
const MOST_WAITING = 100;

type Submitted = { link: CompiledLink; hash: string; visit: Visit; exchange: Exchange };

/** `POST /<slug>`: what the password form sends. */
export function createPasswordHandler(given: {
  exchanges: Exchanges;
  clientAddress: ClientAddress;
  redirect: RedirectHandler;
  follow: FollowLink;
  gate: PasswordGate;
  attempts: Attempts;
  metrics: IngestMetrics;
  pages: Pages;
}): (res: HttpResponse, req: HttpRequest) => void {
  const { exchanges, clientAddress, redirect, follow, gate, attempts, metrics, pages } = given;
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

  async function answer({ link, hash, visit, exchange }: Submitted, body: string): Promise<void> {
    const attempt = await attempts.begin(link.idText, visit.address);
    if (attempt === 'blocked') {
      return show(exchange, 'too_many_attempts', '429 Too Many Requests', pages.tooManyAttempts);
    }
    if (attempt === 'busy') return showUnavailable(exchange);
    let right = true;
    try {
      if (exchange.over) return;
      if (waiting.length >= MOST_WAITING) return showUnavailable(exchange);
      right = await check(new URLSearchParams(body).get('password') ?? '', hash);
    } finally {
      attempt.end(!right);
    }
    if (!right) return show(exchange, 'wrong_password', '401 Unauthorized', pages.wrongPassword);
    if (!exchange.over) follow.pass(link, visit, exchange, gate.cookieFor(link));
  }

  return (res, req) => {
    const visit = readVisit(req, res, false, clientAddress);
    const exchange = exchanges.open(res, false);
    const submit = (body: string) =>
      redirect.withLink(visit, exchange, (link) => {
        if (link.passwordHash === null) {
          exchanges.reply(exchange, '405 Method Not Allowed', [['Allow', 'GET, HEAD']]);
        } else if (!follow.answeredAsOver(link, exchange)) {
          const attempt = { link, hash: link.passwordHash, visit, exchange };
          exchanges.after(exchange, answer(attempt, body), () => undefined);
        }
      });
    readBody(res, BODY_LIMIT, (body) => {
      if (body === null) exchanges.reply(exchange, '413 Payload Too Large', []);
      else exchanges.guard(exchange, () => submit(body.toString('utf8')));
    });
  };
}
