import type { Registry } from 'prom-client';
import { openReaders } from '../analytics/replicas/open-readers.ts';
import type { ClickHouseClient } from '../clickhouse/client.ts';
import type { Replica } from '../clickhouse/replicas.ts';
import type { LookUpTxt } from '../core/dns/txt-records.ts';
import type { Enricher } from '../core/enrich/enrich.ts';
import type { DeadTopic } from '../core/event-log/open.ts';
import type { EventLogReader } from '../core/event-log/port.ts';
import { MAIN_REPLICA } from '../core/settings/replicas.ts';
import type { Logger } from '../core/tier/log.ts';
import { createRedirectHealth } from '../core/tier/redirect-health.ts';
import type { Tracing } from '../core/tier/tracing.ts';
import { createHostResolver, type ResolveHost } from '../core/webhooks/resolve-host.ts';
import { createConnectionSealer } from '../sql/connections/sealer.ts';
import type { Pool } from '../sql/database/pool.ts';
import { createOutbox } from '../sql/mail/outbox.ts';
import { checkAlerts } from './alerts/check-alerts.ts';
import { checkProblems } from './alerts/check-problems.ts';
import { attribute } from './attribution/attribute.ts';
import { storeWaitingReports } from './attribution/store-waiting-reports.ts';
import { startChat } from './chat/post-messages.ts';
import { startConnectionJobs } from './connections/jobs.ts';
import { COMPARE_EVERY_MS, compareCounts } from './counts/compare-counts.ts';
import { publishDeadLetters } from './dead-letters/publish.ts';
import { startDestinationChecks } from './destinations/check-destinations.ts';
import { type DestinationOptions, startDestinationPages } from './destinations/destination-pages.ts';
import { exposeBackupAge, exposeErasureAge, exposeMailAge, exposeWatermarkAge } from './exposed-ages.ts';
import { exposeCounts } from './exposed-counts.ts';
import { exposeReplicas } from './exposed-replicas.ts';
import { exposeReplication } from './exposed-replication.ts';
import { exposeStreams } from './exposed-streams.ts';
import { createIdlePause } from './idle-pause.ts';
import { checkDomains } from './jobs/check-domains.ts';
import { completeImports } from './jobs/complete-imports.ts';
import { correctTimes } from './jobs/correct-times.ts';
import { DECIDE_SPLITS_EVERY_MS, decideSplits } from './jobs/decide-splits.ts';
import { eraseRequested } from './jobs/erase.ts';
import { startJob } from './jobs/job.ts';
import { pruneOld } from './jobs/prune.ts';
import { publishOrders } from './jobs/publish-orders.ts';
import { removeExpired } from './jobs/retain.ts';
import { removeUndoneImports } from './jobs/undo-imports.ts';
import { createWaiting } from './jobs/waiting.ts';
import { createDamageWatch } from './jobs/watch-damage.ts';
import { requestingHeartbeats } from './lane/heartbeat-requests.ts';
import { createIdleLanes, type IdleLanes } from './lane/idle-lanes.ts';
import { type LaneDependencies, runLane } from './lane/lane.ts';
import { startLanes } from './lane/lanes.ts';
import { keepLeases } from './lane/leases.ts';
import { createPace } from './lane/pace.ts';
import type { Decode } from './lane/prepare.ts';
import { type MailOptions, startMail, startMailExpiry } from './mail/mail.ts';
import { createWorkerMetrics } from './metrics.ts';
import { startReferralJobs } from './referrals/jobs.ts';
import { createRepair } from './replicas/repair.ts';
import { sendReports } from './reports/send-reports.ts';
import { keepRolledUp, rollUpImports } from './rollups/keep-rolled-up.ts';
import { createSender } from './webhooks/send.ts';
import { startWebhooks, type WebhookOptions } from './webhooks/webhooks.ts';

/** The consumer that stores events. Its lanes advance the watermark. */
export const STORE_CONSUMER = 'store';

export type WorkersDependencies = {
  pool: Pool;
  /** The replica that jobs write. */
  clickhouse: ClickHouseClient;
  /** The replicas that the lanes feed; left out: `clickhouse` alone, as `main`. */
  replicas?: readonly Replica[];
  /** The reader of the store's lanes. */
  reader: EventLogReader;
  /** The reader of the webhooks' lanes, where a reader keeps an offset and cannot be shared; left out: the same one. */
  webhookReader?: EventLogReader;
  decode: Decode;
  enricher: Enricher;
  log: Logger;
  registry: Registry;
  /** Left out: nothing is traced. */
  tracing?: Tracing;
  /** The topic for copies of dead letters; left out or null: none. */
  deadTopic?: DeadTopic | null;
  /** Left out: this process delivers no webhooks. */
  webhooks?: WebhookOptions;
  /** Left out: this process fetches no titles and icons of destinations. */
  destinations?: DestinationOptions;
  /** Left out: this process sends no mail. */
  mail?: MailOptions;
  /** Left out: this process makes no reports and checks no alerts. */
  reports?: ReportOptions;
  /** Origin of Stripe's API; left out: Stripe's own. */
  stripeApiBase?: string;
  /** Left out: this process checks no domains. */
  lookUpTxt?: LookUpTxt;
  /** Detects when the lanes are idle; left out: an own detection. */
  quiet?: IdleLanes;
  /** For tests: see the lanes. */
  patienceMs?: LaneDependencies['patienceMs'];
  /** For tests: called at each state of each lane. */
  onState?: LaneDependencies['onState'];
};

export type ReportOptions = {
  /** Origin of the console. */
  appUrl: string;
  /** Origin of ingest, which tells whether clicks are lost. */
  shortUrl: string;
  /** Whether messages to chats may reach private addresses. */
  allowPrivate: boolean;
  /** For tests. */
  resolve?: ResolveHost;
};

export type Workers = {
  /**
   * Stores what the log holds at this moment, for at most `drainMs`, then stops everything. The caller closes the
   * databases and the readers.
   */
  stop(drainMs?: number): Promise<void>;
};

const DRAIN_MS = 2_000;
const STRIPE_API = 'https://api.stripe.com';
const ATTRIBUTE_EVERY_MS = 500;
const STORE_REPORTS_EVERY_MS = 200;
const ERASE_EVERY_MS = 10_000;
const PUBLISH_LETTERS_EVERY_MS = 2_000;
/** Lanes publish their orders at once. This interval is for orders of the API and of workers that ended. */
const PUBLISH_ORDERS_EVERY_MS = 500;
const CORRECT_EVERY_MS = 5_000;
/** New domains are due each minute. */
const CHECK_DOMAINS_EVERY_MS = 15_000;
const PRUNE_EVERY_MS = 60_000;
const SEND_REPORTS_EVERY_MS = 1_000;
const LOOK_FOR_PROBLEMS_EVERY_MS = 30_000;
/** Interval of all jobs that poll for pending work, while there is no work and no recent event. */
const IDLE_POLL_MS = 1_000;
const REPAIR_EVERY_MS = 1_000;
const RETAIN_EVERY_MS = 3_600_000;
const ROLL_UP_EVERY_MS = 600_000;
const ROLL_UP_IMPORTS_EVERY_MS = 5_000;
const LOOK_FOR_DAMAGE_EVERY_MS = 60_000;

/** Builds and starts the tier: the store's lanes, webhooks, attribution, referrals and housekeeping. */
export function createWorkers(dependencies: WorkersDependencies): Workers {
  const { pool, clickhouse, log, registry, deadTopic, lookUpTxt } = dependencies;
  const metrics = createWorkerMetrics(registry);
  void exposeWatermarkAge(pool, registry);
  void exposeErasureAge(pool, registry);
  void exposeBackupAge(pool, registry);
  void exposeMailAge(pool, registry);
  exposeReplication(pool, registry);
  exposeReplicas(pool, registry);
  exposeStreams(pool, registry);
  exposeCounts(pool, registry);
  const end = new AbortController();
  const pause = createIdlePause(IDLE_POLL_MS);
  const given = requestingHeartbeats(
    dependencies.quiet ?? createIdleLanes(),
    dependencies.reader,
    end.signal,
  );
  const quiet = waking(given, () => {
    const wasIdle = pause.isIdle();
    pause.found();
    // From now on they poll at their own intervals.
    if (wasIdle) for (const job of eventJobs) job.wake();
  });
  const leases = keepLeases(pool);
  const pace = createPace({ clickhouse, log, quiet, signal: end.signal });
  const waits = createWaiting({
    pool,
    pause,
    now: dependencies.webhooks?.now ?? dependencies.mail?.now ?? Date.now,
    onWatermarkAwaited: quiet.end,
  });
  const replicas = dependencies.replicas ?? [{ name: MAIN_REPLICA, clickhouse }];
  const readers = openReaders(pool, replicas, log);
  const shared = { pool, clickhouse, replicas, readers, log, metrics, pause, waits };
  const publication = startJob({
    ...shared,
    name: 'publish_orders',
    everyMs: () => pause.ms(PUBLISH_ORDERS_EVERY_MS),
    work: async (isWoken) => (isWoken || (await shared.waits('orderPublications'))) && publishOrders(shared),
  });
  const laneDependencies = {
    ...dependencies,
    replicas,
    leases,
    metrics,
    pace,
    quiet,
    onOrdersStored: publication.wake,
  };
  const lanes = startLanes({
    ...laneDependencies,
    consumer: STORE_CONSUMER,
    run: (lane, control, laneLog) => runLane({ ...laneDependencies, log: laneLog }, lane, control),
  });
  const webhooks =
    dependencies.webhooks &&
    startWebhooks({
      ...dependencies,
      leases,
      reader: dependencies.webhookReader ?? dependencies.reader,
      quiet,
      workerMetrics: metrics,
      waits: shared.waits,
      pause,
      options: dependencies.webhooks,
    });
  const mail =
    dependencies.mail &&
    startMail({ ...shared, registry, workerMetrics: metrics, options: dependencies.mail });
  const { reports } = dependencies;
  const redirects = reports ? createRedirectHealth(reports.shortUrl) : null;
  const chat =
    reports &&
    startChat({
      ...shared,
      sender: createSender({ ...reports, resolve: reports.resolve ?? createHostResolver() }),
    });
  /** Jobs whose work comes from the lanes' events. */
  const eventJobs = [
    startJob({
      ...shared,
      name: 'waiting_reports',
      everyMs: () => pause.ms(STORE_REPORTS_EVERY_MS),
      work: async () =>
        (await shared.waits('waitingReports')) &&
        storeWaitingReports({
          ...dependencies,
          readers,
          replicas,
          metrics,
          onOrdersStored: publication.wake,
        }),
    }),
    startJob({
      ...shared,
      name: 'attribution',
      everyMs: () => pause.ms(ATTRIBUTE_EVERY_MS),
      work: async () => (await shared.waits('attribution')) && attribute(shared, 'orders'),
    }),
    startJob({
      ...shared,
      name: 'attribution_of_leads',
      everyMs: () => pause.ms(ATTRIBUTE_EVERY_MS),
      work: async () => (await shared.waits('leads')) && attribute(shared, 'leads'),
    }),
  ];
  const jobs = [
    ...eventJobs,
    startJob({ ...shared, name: 'erase', everyMs: ERASE_EVERY_MS, work: () => eraseRequested(shared) }),
    startJob({
      ...shared,
      name: 'correct_times',
      everyMs: CORRECT_EVERY_MS,
      isShared: true,
      work: async () => (await waits('clockCorrections')) && correctTimes(shared),
    }),
    startJob({
      ...shared,
      name: 'splits',
      everyMs: DECIDE_SPLITS_EVERY_MS,
      work: async () => (await shared.waits('splits')) && decideSplits(shared),
    }),
    ...(lookUpTxt
      ? [
          startJob({
            ...shared,
            name: 'domains',
            everyMs: CHECK_DOMAINS_EVERY_MS,
            work: () => checkDomains({ ...shared, lookUpTxt }),
          }),
        ]
      : []),
    ...(dependencies.destinations
      ? [
          startDestinationPages({ ...shared, options: dependencies.destinations }),
          startDestinationChecks({ ...shared, options: dependencies.destinations }),
        ]
      : []),
    ...(reports && redirects
      ? [
          startJob({
            ...shared,
            name: 'reports',
            everyMs: () => pause.ms(SEND_REPORTS_EVERY_MS),
            work: async () =>
              (await waits('reports')) &&
              sendReports({ ...shared, appUrl: reports.appUrl, outbox: createOutbox(Boolean(mail)) }),
          }),
          startJob({
            ...shared,
            name: 'alerts',
            everyMs: () => pause.ms(SEND_REPORTS_EVERY_MS),
            work: async () =>
              (await waits('alerts')) &&
              checkAlerts({ ...shared, appUrl: reports.appUrl, outbox: createOutbox(Boolean(mail)) }),
          }),
          startJob({
            ...shared,
            name: 'problems',
            everyMs: LOOK_FOR_PROBLEMS_EVERY_MS,
            work: () =>
              checkProblems({
                ...shared,
                appUrl: reports.appUrl,
                outbox: createOutbox(Boolean(mail)),
                redirects,
              }),
          }),
        ]
      : []),
    startMailExpiry({ ...shared, now: dependencies.mail?.now }),
    ...(replicas.length > 1
      ? [startJob({ ...shared, name: 'repair', everyMs: REPAIR_EVERY_MS, work: createRepair(shared) })]
      : []),
    startJob({ ...shared, name: 'prune', everyMs: PRUNE_EVERY_MS, work: () => pruneOld(shared) }),
    startJob({ ...shared, name: 'retention', everyMs: RETAIN_EVERY_MS, work: () => removeExpired(shared) }),
    startJob({ ...shared, name: 'rollups', everyMs: ROLL_UP_EVERY_MS, work: () => keepRolledUp(shared) }),
    startJob({
      ...shared,
      name: 'imports_of_clicks',
      everyMs: ROLL_UP_IMPORTS_EVERY_MS,
      isShared: true,
      work: async () => {
        if (!(await waits('clickImports'))) return false;
        await removeUndoneImports(shared);
        await completeImports(shared);
        return rollUpImports(shared);
      },
    }),
    startJob({
      ...shared,
      name: 'compare_counts',
      everyMs: COMPARE_EVERY_MS,
      work: () => compareCounts({ pool, replicas, log }),
    }),
    startJob({
      ...shared,
      name: 'damage',
      everyMs: LOOK_FOR_DAMAGE_EVERY_MS,
      work: createDamageWatch(shared),
    }),
    ...startReferralJobs(shared),
    ...startConnectionJobs({
      ...shared,
      sealer: createConnectionSealer(pool),
      stripeApiBase: dependencies.stripeApiBase ?? STRIPE_API,
    }),
    ...(deadTopic
      ? [
          startJob({
            ...shared,
            name: 'dead_letters',
            everyMs: PUBLISH_LETTERS_EVERY_MS,
            work: () => publishDeadLetters({ pool, topic: deadTopic }),
          }),
        ]
      : []),
  ];

  return {
    async stop(drainMs = DRAIN_MS) {
      await Promise.all([
        lanes.stop(drainMs),
        webhooks?.stop(drainMs),
        mail?.stop(drainMs),
        chat?.stop(drainMs),
        ...jobs.map((job) => job.stop()),
      ]);
      await leases.stop();
      await publication.stop(); // last: the lanes wake it as they drain
      readers.close();
      end.abort();
    },
  };
}

/** Returns `quiet` with an `end` that also calls `onEvent`. */
function waking(quiet: IdleLanes, onEvent: () => void): IdleLanes {
  return {
    ...quiet,
    end() {
      quiet.end();
      onEvent();
    },
  };
}
