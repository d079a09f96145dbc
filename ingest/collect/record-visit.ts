import type { AgentKinds } from '../../core/enrich/agent-kinds.ts';
import { preferredLanguage } from '../../core/enrich/languages.ts';
import { cleanReferer, refererHost } from '../../core/enrich/referer.ts';
import { AppError } from '../../core/errors.ts';
import type { EventLogWriter } from '../../core/event-log/port.ts';
import { NO_LABELS } from '../../core/events/click-labels.ts';
import { bytesToUuid, uuidToBytes } from '../../core/ids.ts';
import type { VisitorIds } from '../../core/tracking/visitors.ts';
import type { CodeLink } from '../../sql/referrals/referral-codes.ts';
import type { WorkspacePolicies } from '../link-table/workspace-policies.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { Visit } from '../redirect/visit.ts';
import type { IdentifyVisitor } from '../visitors/identify.ts';
import type { ReferralCodes } from './referral-codes.ts';
import type { VisitReport } from './visit-report.ts';

/** Facts about the browser, from the request of a report. */
export type Browser = Pick<Visit, 'userAgent' | 'acceptLanguage' | 'gpc' | 'address'> & {
  /** Host of the page; empty: unknown. */
  host: string;
};

/** Channel of referral links. */
const CHANNEL = 'referral';

/**
 * Records a page's visit with a referrer's code as a click of the referrer's link, once it is in the journal.
 *
 * @returns the visitor id that the page is to store; null: no click, or the workspace gives pages none
 */
export type RecordVisit = (
  workspaceId: Uint8Array,
  report: VisitReport,
  browser: Browser,
) => Promise<string | null>;

export function createRecordVisit(given: {
  eventLog: EventLogWriter;
  codes: ReferralCodes;
  policies: WorkspacePolicies;
  visitorIds: VisitorIds;
  identify: IdentifyVisitor;
  agentKinds: AgentKinds;
  metrics: IngestMetrics;
}): RecordVisit {
  const { eventLog, codes, policies, visitorIds, identify, agentKinds, metrics } = given;

  /**
   * Whether the redirect has counted this visit. It adds `ref=<slug>` to the page's address. Where it adds no visitor
   * id, only that `ref` shows that the visit is counted.
   */
  function isCounted(workspaceId: Uint8Array, { parameter }: VisitReport, link: CodeLink): boolean {
    const names = link.append_visitor && policies.trackingOf(workspaceId) === 'full';
    return !names && parameter === 'ref' && link.is_slug;
  }

  function visitorOf(workspaceId: Uint8Array, report: VisitReport, browser: Browser) {
    const isFull = policies.trackingOf(workspaceId) === 'full';
    if (isFull && !browser.gpc && report.visitorId !== null) {
      return { id: report.visitorId, idText: bytesToUuid(report.visitorId) };
    }
    const isBot = agentKinds(browser.userAgent).bot;
    return identify(visitorIds.forWorkspace(workspaceId), { ...browser, cookie: '', isHttps: null }, isBot);
  }

  return async (workspaceId, report, browser) => {
    if (!policies.linkParametersOf(workspaceId).includes(report.parameter)) return null;
    const link = await codes.linkOf(workspaceId, report.parameter, report.code);
    if (link === null || isCounted(workspaceId, report, link)) return null;
    const { id, idText } = visitorOf(workspaceId, report, browser);
    const outcome = await new Promise((resolve) =>
      eventLog.append(
        {
          kind: 'click',
          workspaceId,
          linkId: uuidToBytes(link.link_id),
          visitorId: id,
          labels: { ...NO_LABELS, domain: link.domain ?? '', slug: link.slug },
          channel: CHANNEL,
          referer: refererHost(report.referrer) === browser.host ? '' : cleanReferer(report.referrer),
          userAgent: browser.userAgent,
          language: preferredLanguage(browser.acceptLanguage),
          address: browser.address,
          flags: 0,
          ad: null,
        },
        resolve,
      ),
    );
    if (outcome === 'lost') {
      metrics.countLost('click');
      throw new AppError('unavailable', 'the journal is full; try again');
    }
    return browser.gpc ? null : idText;
  };
}
