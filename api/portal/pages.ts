import { AppError } from '../../core/errors.ts';
import type { Language } from '../../core/languages/languages.ts';
import { negotiateLanguage } from '../../core/languages/negotiate.ts';
import { shortUrlOf } from '../../core/links/short-urls.ts';
import { qrModules } from '../../core/qr/code.ts';
import { readColor } from '../../core/qr/colors.ts';
import { QUIET_ZONE, qrAddress } from '../../core/qr/layout.ts';
import { type QrLook, qrSvg } from '../../core/qr/svg.ts';
import { MOST_ASSETS } from '../../core/referrals/assets.ts';
import { programWith } from '../../core/referrals/terms.ts';
import { escapeHtml } from '../../core/text/html.ts';
import { acceptedTerms } from '../../sql/portal/accepted-terms.ts';
import { listAssets } from '../../sql/portal/assets.ts';
import { hasAffiliates } from '../../sql/portal/portal-programs.ts';
import { statementLines } from '../../sql/portal/statement-lines.ts';
import { enrollmentHistory } from '../../sql/referrals/enrollment-history.ts';
import { type Enrollment, enrollmentById } from '../../sql/referrals/enrollments.ts';
import { ownTermsOf } from '../../sql/referrals/partner-groups.ts';
import { referralAddress } from '../../sql/referrals/referral-links.ts';
import { workspaceLogo } from '../../sql/workspaces/logos.ts';
import { addVary, assetOf, builtAsset, sendAsset } from '../assets.ts';
import type { Api, ApiDeps, FastifyReply, FastifyRequest } from '../dependencies.ts';
import { isUnavailable } from '../plugins/database-errors.ts';
import { createReportLimit } from '../plugins/report-limit.ts';
import { type ReadClicks, referralStats } from '../referrals/stats.ts';
import { type Account, accountMain } from './account-page.ts';
import { applyMain } from './apply-page.ts';
import { portalAssetFiles } from './asset-files.ts';
import { assetPath, PORTAL_POLICY, type PortalFiles, portalHtml, writingIn } from './html.ts';
import { isOpen, type OfPortal, portalOf } from './portal-of.ts';
import { type Affiliate, affiliateOf, portalCookies } from './session.ts';
import { completeMain } from './sign-in-page.ts';
import { monthsSince, spanOf, statementMain } from './statement-page.ts';

const FOREVER = 'public, max-age=31536000, immutable';
const LOGO_CACHE = 'public, max-age=300';
/** Days of the figures. */
const FIGURE_DAYS = 30;
/** Concurrent reads of a workspace's clicks by affiliates. */
const AT_A_TIME = 2;
const QR_LOOK: QrLook = {
  size: 528,
  margin: QUIET_ZONE,
  color: readColor('color', '#000000'),
  background: readColor('background', '#ffffff'),
};

type OfCode = { Params: { code: string } };

/** Registers the pages of the affiliates' portal, `/p/<code>`, and their files. */
export async function portalPages(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const cookies = portalCookies(config.appUrl);
  const limit = createReportLimit(AT_A_TIME);
  let read: PortalFiles | null = null;
  // Read at the first request: the API works without the browser build, as in most tests.
  const files = (): PortalFiles => {
    read ??= { script: builtAsset('portal.js'), style: builtAsset('portal.css') };
    return read;
  };
  const hidden = { schema: { hide: true }, config: { page: true as const } };

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    of: OfPortal | null,
    write: (language: Language) => { title: string; main: string },
  ) {
    const asked = String(request.headers['accept-language'] ?? '');
    const language = of?.workspace.language ?? negotiateLanguage(asked);
    const hasLogo = of !== null && (await workspaceLogo(pool, of.workspace.id)) !== null;
    const { title, main } = write(language);
    addVary(reply, 'Accept-Language');
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-language', language)
      .header('cache-control', 'no-store')
      .header('content-security-policy', PORTAL_POLICY)
      .header('referrer-policy', 'same-origin')
      .header('x-content-type-options', 'nosniff')
      .header('x-robots-tag', 'noindex')
      .header('cross-origin-opener-policy', 'same-origin')
      .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=()')
      .send(portalHtml({ files: files(), language, of, hasLogo }, title, main));
  }
  const sendPage = (
    request: FastifyRequest,
    reply: FastifyReply,
    of: OfPortal,
    main: (language: Language) => string,
  ) =>
    send(request, reply, of, (language) => ({
      title: `${of.program.name} – ${of.workspace.name}`,
      main: main(language),
    }));
  const sendMissing = (request: FastifyRequest, reply: FastifyReply) =>
    send(request, reply.status(404), null, (language) => aloneOf(language, 'not_found'));

  // Visitors read a page. Other errors are the API's own.
  app.setErrorHandler((error, request, reply) => {
    if (!isAway(error)) throw error;
    request.log.warn({ err: error }, 'a page of the portal is unavailable');
    return send(request, reply.status(503).header('retry-after', '10'), null, (language) =>
      aloneOf(language, 'unavailable'),
    );
  });

  /** Returns the caller's referrer in a program; null: the caller is not in it. */
  async function ownEnrollment(of: OfPortal, affiliate: Affiliate | null): Promise<Enrollment | null> {
    const own = affiliate?.programs.find(({ program_id }) => program_id === of.program.id);
    return own ? enrollmentById(pool, own.workspace_id, own.enrollment_id) : null;
  }

  /** Returns what the page of a signed-in affiliate shows; null: the affiliate is not in the program. */
  async function accountOf(
    of: OfPortal,
    affiliate: Affiliate,
    log: FastifyRequest['log'],
  ): Promise<Account | null> {
    const enrollment = await ownEnrollment(of, affiliate);
    const address = enrollment && (await referralAddress(pool, enrollment.id));
    if (!enrollment || !address) return null;
    const now = new Date();
    let hasClicks = true;
    const readClicks: ReadClicks = async (read) => {
      try {
        const release = await limit.take(of.workspace.id);
        return await read().finally(release);
      } catch (error) {
        if (!isAway(error)) throw error;
        // What is earned is in PostgreSQL, and matters more.
        log.warn({ err: error }, 'the portal shows an account without clicks');
        hasClicks = false;
        return new Map();
      }
    };
    const stats = await referralStats(deps, { enrollment, address }, FIGURE_DAYS, now, readClicks);
    const all = await enrollmentHistory(pool, of.workspace.id, enrollment.id, { before: null, limit: 100 });
    const history = (all ?? []).filter(({ field }) => field === 'payout_method');
    const accepted = await acceptedTerms(pool, enrollment.id);
    const given = { id: null, programId: of.program.id, type: null, before: null, limit: MOST_ASSETS };
    const assets = await listAssets(pool, of.workspace.id, given);
    const months = monthsSince(enrollment.created_at, now);
    const paying = programWith(of.program, await ownTermsOf(pool, enrollment, of.program.id));
    return { of, affiliate, stats, paying, hasClicks, history, accepted, months, assets };
  }

  const sendAccount = async (
    request: FastifyRequest,
    reply: FastifyReply,
    of: OfPortal,
    affiliate: Affiliate,
  ) => {
    const account = await accountOf(of, affiliate, request.log);
    return account && sendPage(request, reply, of, (language) => accountMain(account, writingIn(language)));
  };

  app.get<OfCode>('/p/:code', hidden, async (request, reply) => {
    const of = await portalOf(pool, request.params.code);
    const affiliate = await affiliateOf(pool, cookies, request);
    const sent = of && affiliate && (await sendAccount(request, reply, of, affiliate));
    if (sent) return sent;
    if (!of || !(isOpen(of.program) || (await hasAffiliates(pool, of.program.id)))) {
      return sendMissing(request, reply);
    }
    return sendPage(request, reply, of, (language) => applyMain(of, affiliate, writingIn(language)));
  });

  // The token is in the fragment: no server's log has it.
  app.get<OfCode>('/p/:code/sign-in', hidden, async (request, reply) => {
    const of = await portalOf(pool, request.params.code);
    if (!of) return sendMissing(request, reply);
    return sendPage(request, reply, of, (language) => completeMain(of.program.code, writingIn(language)));
  });

  app.get<OfCode & { Params: { month: string } }>(
    '/p/:code/statements/:month',
    hidden,
    async (request, reply) => {
      const { code, month } = request.params;
      const of = await portalOf(pool, code);
      const span = spanOf(month);
      const enrollment = of && (await ownEnrollment(of, await affiliateOf(pool, cookies, request)));
      // Somebody who is not signed in can do so on the program's page.
      if (!of || !span || !enrollment) return reply.redirect(`/p/${encodeURIComponent(code)}`, 302);
      const lines = await statementLines(pool, enrollment.id, span.from, span.to);
      const whose = { name: enrollment.name, email: enrollment.email ?? '' };
      return sendPage(request, reply, of, (language) =>
        statementMain(of, whose, { month, lines }, writingIn(language)),
      );
    },
  );

  app.get<OfCode>('/p/:code/qr.svg', hidden, async (request, reply) => {
    const of = await portalOf(pool, request.params.code);
    const enrollment = of && (await ownEnrollment(of, await affiliateOf(pool, cookies, request)));
    const address = enrollment && (await referralAddress(pool, enrollment.id));
    if (!address) return reply.callNotFound();
    const url = qrAddress(shortUrlOf(config.shortUrl, address));
    const svg = qrSvg(qrModules(url, 'M'), QR_LOOK, url, null);
    return reply.header('content-type', 'image/svg+xml').header('cache-control', 'no-store').send(svg);
  });

  app.get<OfCode>('/p/:code/logo.png', hidden, async (request, reply) => {
    const found = await portalOf(pool, request.params.code);
    const logo = found && (await workspaceLogo(pool, found.workspace.id));
    if (!logo) return reply.callNotFound();
    return sendAsset(request, reply.header('cache-control', LOGO_CACHE), assetOf(logo, 'image/png'));
  });

  app.get<{ Params: { file: string } }>('/p/assets/:file', hidden, (request, reply) => {
    const { script, style } = files();
    const found = [
      { asset: script, path: assetPath(script, 'js') },
      { asset: style, path: assetPath(style, 'css') },
    ].find(({ path }) => path === `/p/assets/${request.params.file}`);
    if (!found) return reply.callNotFound();
    return sendAsset(request, reply.header('cache-control', FOREVER), found.asset);
  });

  await portalAssetFiles(app, deps);
}

/** Whether a database can't serve now, or too many ask. */
const isAway = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof AppError && error.code === 'unavailable');

/** A page of a title and a sentence. */
function aloneOf(language: Language, key: 'not_found' | 'unavailable'): { title: string; main: string } {
  const { words } = writingIn(language);
  const title = words(key);
  return {
    title,
    main: `<div class="alone"><h1>${escapeHtml(title)}</h1><p>${escapeHtml(words(`${key}_text`))}</p></div>`,
  };
}
