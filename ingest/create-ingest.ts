import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Registry } from 'prom-client';
import { createAgentKinds } from '../core/enrich/agent-kinds.ts';
import { errorPageOf } from '../core/error-envelope.ts';
import type { EventLogWriter } from '../core/event-log/port.ts';
import { openBlockedDomains } from '../core/links/blocked-domains.ts';
import { type Config, ConfigError } from '../core/settings/config.ts';
import type { Readiness } from '../core/tier/health.ts';
import type { Logger } from '../core/tier/log.ts';
import { createVisitorIds } from '../core/tracking/visitors.ts';
import type { Pool } from '../sql/database/pool.ts';
import type { DeploymentSecrets } from '../sql/database/secrets.ts';
import { createBioPageHandler } from './bio/handler.ts';
import { createPictures } from './bio/pictures.ts';
import { createCollectHandlers } from './collect/handler.ts';
import { createKeyUses } from './collect/key-uses.ts';
import { createRecordVisit } from './collect/record-visit.ts';
import { createReferralCodes } from './collect/referral-codes.ts';
import { createReportLog } from './collect/report-log.ts';
import { createHealth } from './health.ts';
import { createClientAddresses } from './http/client-address.ts';
import { countConnections } from './http/connections.ts';
import { createExchanges } from './http/exchange.ts';
import { listen, loadUws, warnOfResets } from './http/uws.ts';
import { openLinkTable } from './link-table/open.ts';
import { linkSources } from './link-table/sources.ts';
import type { Outstanding } from './max-clicks/outstanding.ts';
import { createPermits } from './max-clicks/permits.ts';
import { createIngestMetrics } from './metrics.ts';
import { createPages } from './pages/pages.ts';
import { createAttempts } from './password/attempts.ts';
import { createPasswordGate } from './password/gate.ts';
import { createPasswordHandler } from './password/handler.ts';
import { createKnownVisitors } from './password/known-visitors.ts';
import { createSharedAttempts } from './password/shared-attempts.ts';
import { createPixelScript } from './pixel-script.ts';
import { createCompiledLinks } from './redirect/compiled-links.ts';
import { createDecidingVisits } from './redirect/deciding-visit.ts';
import { createDomainVisits } from './redirect/domain-visits.ts';
import { createRedirectHandler } from './redirect/handler.ts';
import { createLinkPolicy } from './redirect/link-policy.ts';
import { createOwnHost } from './redirect/own-host.ts';
import { createPlaces } from './redirect/places.ts';
import { createRecordAndRedirect } from './redirect/record-and-redirect.ts';
import { createInterstitial } from './retargeting/interstitial.ts';
import { addRoutes } from './routes.ts';
import { openDailyVisitors } from './visitors/daily-salts.ts';
import { createIdentifyVisitor } from './visitors/identify.ts';

export type IngestDeps = {
  config: Config;
  pool: Pool;
  log: Logger;
  registry: Registry;
  secrets: Pick<DeploymentSecrets, 'visitor' | 'cookie'>;
  /** Owned by the caller, who closes it after the ingest. */
  eventLog: EventLogWriter;
  /** Reads the permits that an earlier run of the stream spent; retried until it succeeds. */
  readOutstanding(): Promise<Outstanding>;
  /** Directory of the link table. */
  tableDir: string;
  /** Whether PostgreSQL is up: then its latest changes are applied before the first visitor. */
  catchUp: boolean;
  /** Path of the built pixel; defaults to the repository's. */
  pixelPath?: string;
  /**
   * Limit of each wait of a visitor, in milliseconds; by default each part has its own, of one to five seconds. For
   * tests: a loaded machine may need longer.
   */
  longestWaitMs?: number;
};

export type Ingest = {
  /** The port it listens on. */
  port: number;
  /** Returns whether it can serve, and why not: details for the operator. */
  readiness(): Readiness;
  /** Returns whether a host is a proven domain of a workspace. */
  hasDomain(host: string): boolean;
  /**
   * Stops accepting, responds on open connections and closes them, returns leases. Takes up to 3 s with PostgreSQL
   * down.
   */
  close(): Promise<void>;
};

const PIXEL_PATH = fileURLToPath(new URL('../web/dist/pixel.js', import.meta.url));
const OUTSTANDING_RETRY_MS = 500;
/**
 * Longer than a proxy keeps an idle connection (`keepalive_timeout` in `deploy/nginx`), so that none is cut.
 */
const DRAIN_MS = 1_500;

/**
 * Builds the redirect tier and listens on `INGEST_PORT`.
 *
 * @throws {ConfigError} when the port is taken or a setting is invalid
 * @throws Error when the pixel has not been built
 */
export async function createIngest(deps: IngestDeps): Promise<Ingest> {
  const { config, pool, log, registry, secrets, eventLog, longestWaitMs } = deps;
  const uws = await loadUws();
  const secure = config.shortUrl.startsWith('https:');
  const app = uws.App();
  const addresses = createClientAddresses(app, config.trustProxy);
  const exchanges = createExchanges(log);
  const linkTable = await openLinkTable({
    pool,
    sources: linkSources(config, secrets.cookie),
    dir: deps.tableDir,
    log,
    most: config.ingestLinksInMemory,
    catchUp: deps.catchUp,
    lookupMs: longestWaitMs,
  });
  const { table, resolver, policies, hosts, syncStatus } = linkTable;
  const dailyVisitors = await openDailyVisitors({ pool, path: join(deps.tableDir, 'salts'), log });
  const domains = openBlockedDomains(config.blockedDomainsFile, log);
  let draining = false;
  const tableAgeSeconds = () => syncStatus.age() / 1_000;
  const metrics = createIngestMetrics(registry, {
    links: () => table.size(),
    tableBytes: () => table.bytes(),
    misses: resolver.misses,
    diskReads: linkTable.diskReads,
    tableFailures: linkTable.diskFailures,
    tableAgeSeconds,
  });
  const permits = createPermits({ pool, streamId: eventLog.stream.streamId, log, waitMs: longestWaitMs });
  const pages = createPages(policies);
  const gate = createPasswordGate(secrets.cookie, secure);
  const agentKinds = createAgentKinds();
  const visitorIds = createVisitorIds(secrets.visitor);
  const identify = createIdentifyVisitor({ policies, dailyVisitors, secure });
  const recordAndRedirect = createRecordAndRedirect({
    eventLog,
    exchanges,
    metrics,
    interstitial: createInterstitial(),
    pages,
    identify,
    decidingVisits: createDecidingVisits(createPlaces(log)),
    shortUrl: config.shortUrl,
    refuse({ link, visit, exchange }) {
      permits.release(link.idText);
      metrics.countOutcome('not_recorded');
      const { headers, body } = pages.of(visit, link.workspaceId).unavailable;
      exchanges.reply(exchange, '503 Service Unavailable', headers, body);
    },
  });
  const linkPolicy = createLinkPolicy({
    permits,
    exchanges,
    recordAndRedirect,
    metrics,
    pages,
    agentKinds,
    domains,
    mayPass: gate.mayPass,
  });
  const ownHost = createOwnHost({ exchanges, metrics, pages, config });
  const redirect = createRedirectHandler({
    links: createCompiledLinks({
      table,
      resolver,
      hosts,
      visitorIds,
      domains,
      knowsOthers: linkTable.ready,
    }),
    resolver,
    policies,
    hosts,
    exchanges,
    clientAddress: addresses.byFirstLine,
    metrics,
    pages,
    visitLink: linkPolicy.visit,
    otherKinds: { bio_page: createBioPageHandler({ exchanges, metrics, pages, origins: config, domains }) },
    domainVisits: createDomainVisits({
      eventLog,
      exchanges,
      metrics,
      pages,
      policies,
      agentKinds,
      visitorIds,
      identify,
      domains,
    }),
    ownHost,
    endTurn: () => eventLog.flush(),
  });
  const pixelScript = createPixelScript(deps.pixelPath ?? PIXEL_PATH, {
    exchanges,
    resolver,
    policies,
    origin: config.shortUrl,
  });
  const reportLog = createReportLog({ pool, log });
  const health = createHealth(
    {
      loaded: linkTable.ready,
      shipping: () => eventLog.ready(),
      silenceSeconds: () => syncStatus.silence() / 1_000,
      draining: () => draining,
      links: () => table.size(),
      tableAgeSeconds,
      journalFill: () => eventLog.fill(),
      journalLoss: () => eventLog.loss(),
      trustsForwarded: addresses.trustsForwarded,
    },
    exchanges,
  );
  const connections = countConnections(app);
  addRoutes(app, {
    exchanges,
    redirect,
    ownHost,
    pictures: createPictures({
      pool,
      exchanges,
      pages,
      otherwise: redirect.handle,
      lookupMs: longestWaitMs,
    }),
    pixelScript,
    password: createPasswordHandler({
      exchanges,
      clientAddress: addresses.byAllLines,
      hosts,
      redirect,
      linkPolicy,
      gate,
      attempts: createAttempts({ waitMs: longestWaitMs }),
      sharedAttempts: createSharedAttempts(pool, secrets.cookie, log),
      knownVisitors: createKnownVisitors(pool, secrets.cookie, log),
      metrics,
      pages,
      shortUrl: config.shortUrl,
    }),
    collect: createCollectHandlers({
      errorPage: errorPageOf(config),
      eventLog,
      exchanges,
      resolver,
      policies,
      keyUses: createKeyUses({ pool, log }),
      reportLog,
      clientAddress: addresses.byFirstLine,
      recordVisit: createRecordVisit({
        eventLog,
        codes: createReferralCodes({ pool, lookupMs: longestWaitMs }),
        policies,
        visitorIds,
        identify,
        agentKinds,
        metrics,
      }),
      metrics,
      log,
    }),
    health,
    robots: config.robots,
    behindProxies: addresses.behindProxies,
  });

  if (config.ingestSharePort) warnOfResets(log);
  const listening = await listen(app, config.host, config.ingestPort, config.ingestSharePort);
  if (listening === null) {
    await permits.close();
    await linkTable.close();
    await dailyVisitors.close();
    const taken = `${config.host}:${config.ingestPort} is in use by another process, or no address of this machine`;
    throw new ConfigError('INGEST_PORT', String(config.ingestPort), taken);
  }
  let retry: NodeJS.Timeout | null = null;
  function beginPermits(): void {
    deps.readOutstanding().then(
      (outstanding) => permits.start(outstanding),
      (error: unknown) => {
        log.warn({ err: error }, 'failed to read what the last run spent of max_clicks; will retry');
        if (!draining) retry = setTimeout(beginPermits, OUTSTANDING_RETRY_MS);
      },
    );
  }
  beginPermits();

  const close = async () => {
    draining = true;
    domains.close();
    if (retry !== null) clearTimeout(retry);
    exchanges.endConnections();
    // The kernel resets accepted connections of a closed listener: take them in first.
    await turnOfTheLoop();
    uws.us_listen_socket_close(listening);
    await connections.gone(DRAIN_MS);
    app.close();
    await Promise.all([permits.close(), linkTable.close(), reportLog.close(), dailyVisitors.close()]);
  };
  let closing: Promise<void> | null = null;

  return {
    port: uws.us_socket_local_port(listening as Parameters<typeof uws.us_socket_local_port>[0]),
    readiness: health.readiness,
    hasDomain: (host) => hosts.find(host) !== null,
    close() {
      // Runs once: a second close of the server would crash the process.
      closing ??= close();
      return closing;
    },
  };
}

/** Resolves once the ready sockets have been read. */
function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
