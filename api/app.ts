import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type FastifyBaseLogger, fastify, LogController } from 'fastify';
import { openReaders } from '../analytics/replicas/open-readers.ts';
import type { Replica } from '../clickhouse/replicas.ts';
import { inBlocks } from '../core/addresses/address-blocks.ts';
import { withoutPort } from '../core/addresses/address-port.ts';
import { errorPageOf } from '../core/error-envelope.ts';
import { MAIN_REPLICA } from '../core/settings/replicas.ts';
import { alertRoutes } from './alerts/routes.ts';
import { analyticsRoutes } from './analytics/routes.ts';
import { annotationRoutes } from './annotations/routes.ts';
import { applicationRoutes } from './applications/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { bioPageRoutes } from './bio-pages/routes.ts';
import { channelRoutes } from './channels/routes.ts';
import { clickImportRoutes } from './click-imports/routes.ts';
import { clickRoutes } from './clicks/routes.ts';
import { connectionRoutes } from './connections/routes.ts';
import { consoleRoutes } from './console/routes.ts';
import type { Api, ApiDeps, GivenApiDeps } from './dependencies.ts';
import { docsRoutes } from './docs/routes.ts';
import { domainRoutes } from './domains/routes.ts';
import { embedRoutes } from './embed/routes.ts';
import { firstStepRoutes } from './first-steps/routes.ts';
import { folderRoutes } from './folders/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { addBigBodies } from './input/big-bodies.ts';
import { addBody } from './input/body.ts';
import { addSerialization } from './input/serialization.ts';
import { addUnknownParameters } from './input/unknown-parameters.ts';
import { addValidation } from './input/validation.ts';
import { keyRoutes } from './keys/routes.ts';
import { linkRoutes } from './links/routes.ts';
import { liveClickRoutes } from './live-clicks/routes.ts';
import { mailRoutes } from './mail/routes.ts';
import { addMcp } from './mcp/routes.ts';
import { meRoutes } from './me/routes.ts';
import { memberRoutes } from './members/routes.ts';
import { messageRoutes } from './messages/routes.ts';
import { partnerRoutes } from './partner/routes.ts';
import { pixelRoutes } from './pixel/routes.ts';
import { addAudit } from './plugins/audit.ts';
import { addAuth } from './plugins/auth.ts';
import { addCompression } from './plugins/compression.ts';
import { addConnectionLimit } from './plugins/connection-limit.ts';
import { addCors } from './plugins/cors.ts';
import { addDraining } from './plugins/draining.ts';
import { addBareRefusals, addErrors, answerClientError, sendError, toAppError } from './plugins/errors.ts';
import { addIdempotency } from './plugins/idempotency.ts';
import { addLoadLimit } from './plugins/load-limit.ts';
import { addOpenApi } from './plugins/openapi.ts';
import { addPublishableLimit } from './plugins/publishable-limit.ts';
import { addReadingReplica } from './plugins/reading-replica.ts';
import { addReportLimit } from './plugins/report-limit.ts';
import { addRequestIds, newRequestId } from './plugins/request-ids.ts';
import { addRequestMetrics } from './plugins/request-metrics.ts';
import { addSecurityHeaders } from './plugins/security-headers.ts';
import { addTracing } from './plugins/tracing.ts';
import { addUnknownPaths } from './plugins/unknown-paths.ts';
import { addWorkspaceQueue } from './plugins/workspace-queue.ts';
import { portalAccountRoutes } from './portal/account-routes.ts';
import { portalLinkRoutes } from './portal/link-routes.ts';
import { portalPages } from './portal/pages.ts';
import { portalRoutes } from './portal/routes.ts';
import { assetRoutes } from './program-assets/routes.ts';
import { commissionRoutes } from './referrals/commissions/routes.ts';
import { couponRoutes } from './referrals/coupons/routes.ts';
import { creditRoutes } from './referrals/credits/routes.ts';
import { enrollmentRoutes } from './referrals/enrollments/routes.ts';
import { fulfilmentRoutes } from './referrals/fulfilments/routes.ts';
import { partnerGroupRoutes } from './referrals/groups/routes.ts';
import { referralImportRoutes } from './referrals/import/routes.ts';
import { ledgerRoutes } from './referrals/ledger/routes.ts';
import { payoutRoutes } from './referrals/payouts/routes.ts';
import { referralPreviewRoutes } from './referrals/preview/routes.ts';
import { programRoutes } from './referrals/programs/routes.ts';
import { programTermsRoutes } from './referrals/programs/terms-routes.ts';
import { purchaseRoutes } from './referrals/purchases/routes.ts';
import { referralRoutes } from './referrals/routes.ts';
import { signupRoutes } from './referrals/signups/routes.ts';
import { referralSummaryRoutes } from './referrals/summary/routes.ts';
import { reportRoutes } from './reports/routes.ts';
import { sampleShopRoutes } from './sample-shop/routes.ts';
import { savedViewRoutes } from './saved-views/routes.ts';
import { serviceRoutes } from './service/routes.ts';
import { providerRoutes } from './session/provider-routes.ts';
import { sessionRoutes } from './session/routes.ts';
import { sharedDashboardRoutes } from './shared-dashboards/routes.ts';
import { trackRoutes } from './track/routes.ts';
import { utmTemplateRoutes } from './utm-templates/routes.ts';
import { visitorRoutes } from './visitors/routes.ts';
import { listenRoutes } from './webhooks/listen-routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { workspaceRoutes } from './workspace/routes.ts';

/** Bytes of a request's headers with its URL: 500 ids in a query are about 20 KB. */
const MAX_HEADER_BYTES = 65_536;
const BODY_LIMIT = 1_048_576;
/** Maximum time to receive a request. Milliseconds. */
const ARRIVAL_LIMIT = 30_000;

/** Interval between checks for slow requests. Milliseconds. */
const ARRIVAL_CHECKED_EVERY = 5_000;
/**
 * Maximum time without a byte in either direction during a response: twice that of a slow report. Milliseconds.
 */
const SILENCE_LIMIT = 120_000;

/** Registers a resource's routes under `/api/v1`. */
type Routes = (app: Api, deps: ApiDeps) => Promise<void>;

/** Every resource of the API. Add new ones here only. */
const RESOURCES: Routes[] = [
  meRoutes,
  workspaceRoutes,
  keyRoutes,
  linkRoutes,
  domainRoutes,
  folderRoutes,
  utmTemplateRoutes,
  channelRoutes,
  clickRoutes,
  clickImportRoutes,
  liveClickRoutes,
  analyticsRoutes,
  annotationRoutes,
  savedViewRoutes,
  sharedDashboardRoutes,
  reportRoutes,
  alertRoutes,
  visitorRoutes,
  trackRoutes,
  pixelRoutes,
  programRoutes,
  programTermsRoutes,
  referralRoutes,
  referralSummaryRoutes,
  applicationRoutes,
  portalRoutes,
  portalAccountRoutes,
  portalLinkRoutes,
  enrollmentRoutes,
  partnerGroupRoutes,
  messageRoutes,
  referralImportRoutes,
  referralPreviewRoutes,
  signupRoutes,
  purchaseRoutes,
  couponRoutes,
  assetRoutes,
  ledgerRoutes,
  creditRoutes,
  fulfilmentRoutes,
  commissionRoutes,
  payoutRoutes,
  connectionRoutes,
  bioPageRoutes,
  partnerRoutes,
  webhookRoutes,
  listenRoutes,
  sessionRoutes,
  memberRoutes,
  mailRoutes,
  auditRoutes,
  serviceRoutes,
  firstStepRoutes,
  sampleShopRoutes,
];

/** Returns whether an address is a trusted proxy. The next proxy may append a port to it. */
function trustedProxies(blocks: readonly string[]): ((address: string) => boolean) | false {
  if (blocks.length === 0) return false;
  const isProxy = inBlocks(blocks);
  return (address) => isProxy(withoutPort(address));
}

/**
 * Builds the API without listening: `main.ts` calls `listen`, tests `inject`. Closing it ends the requests in
 * flight and leaves the databases open: they belong to the caller.
 *
 * The order below is the order of checks in a request: id, CORS, load, path and method, key, scope and plan, then
 * body, parameters and `Idempotency-Key`, then the handler.
 */
export async function createApi(given: GivenApiDeps): Promise<Api> {
  const main: Replica = { name: MAIN_REPLICA, clickhouse: given.clickhouse };
  const { replicas = [main] as const, readers = openReaders(given.pool, replicas, given.log) } = given;
  const deps = { ...given, replicas, readers };
  const app: Api = fastify<Server, IncomingMessage, ServerResponse, FastifyBaseLogger>({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: newRequestId,
    bodyLimit: BODY_LIMIT,
    requestTimeout: ARRIVAL_LIMIT,
    connectionTimeout: SILENCE_LIMIT,
    trustProxy: trustedProxies(deps.config.trustProxy),
    forceCloseConnections: 'idle',
    // An open connection may finish its request: the databases close after the API.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: ARRIVAL_CHECKED_EVERY,
      requireHostHeader: false, // addBareRefusals checks it
    },
    clientErrorHandler: answerClientError(newRequestId, errorPageOf(deps.config)),
    frameworkErrors: (error, request, reply) => {
      reply.header('access-control-allow-origin', '*');
      sendError(toAppError(error), request, reply);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  addErrors(app, deps);
  addRequestIds(app);
  addTracing(app, deps);
  addSecurityHeaders(app, deps);
  await addCors(app);
  addBareRefusals(app);
  addRequestMetrics(app, deps);
  addConnectionLimit(app);
  addDraining(app);
  addCompression(app);
  addLoadLimit(app, deps);
  addUnknownPaths(app);
  await addAuth(app, deps);
  addAudit(app, deps);
  addBigBodies(app);
  addBody(app);
  addUnknownParameters(app);
  addValidation(app);
  addSerialization(app);
  addWorkspaceQueue(app);
  addIdempotency(app);
  addPublishableLimit(app, deps);
  addReportLimit(app, deps);
  addReadingReplica(app, deps);
  addOpenApi(app, deps);
  addMcp(app, deps);

  await app.register(async (scope) => healthRoutes(scope as Api, deps));
  await app.register(async (scope) => embedRoutes(scope as Api, deps));
  await app.register(async (scope) => portalPages(scope as Api, deps));
  await app.register(async (scope) => providerRoutes(scope as Api, deps));
  await app.register(async (scope) => consoleRoutes(scope as Api, deps));
  await app.register(async (scope) => docsRoutes(scope as Api, deps));
  await app.register(
    async (scope) => {
      for (const routes of RESOURCES) await routes(scope as Api, deps);
    },
    { prefix: '/api/v1' },
  );
  return app;
}
