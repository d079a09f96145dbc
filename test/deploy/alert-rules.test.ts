import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT, readYaml } from './compose-file.ts';
import { monitoringQueries, parseQuery } from './promql.ts';

const RULES = 'deploy/prometheus/alerts.yml';

/** Values of series in the notation of `promtool test rules`: `0+1x20` is 0, 1, … 20. */
type Series = Record<string, string>;
/** An alert fires with these labels at a minute of its first series, and not at that minute of the second ones. */
type Case = {
  fires: Series;
  rests: Series;
  labels?: Record<string, string>;
  /** Default: 30. */
  atMinute?: number;
  /** Time between two values; default: a minute. */
  interval?: string;
};

const COUNTS = '0+1x90';
const STAYS = '7x90';

const CASES: Record<string, Case> = {
  ClicksLost: {
    fires: { 'hoplog_journal_lost_total{instance="a",cause="disk_full"}': COUNTS },
    rests: { 'hoplog_journal_lost_total{instance="a",cause="disk_full"}': STAYS },
    labels: { instance: 'a', cause: 'disk_full' },
  },
  SequenceGaps: {
    fires: { hoplog_worker_sequence_gaps_total: '_x25 1x60' },
    rests: { hoplog_worker_sequence_gaps_total: STAYS },
  },
  LogLost: {
    fires: { 'hoplog_worker_log_lost_total{cause="truncated"}': '_x25 1x60' },
    rests: { 'hoplog_worker_log_lost_total{cause="truncated"}': STAYS },
    labels: { cause: 'truncated' },
  },
  InvariantBroken: {
    fires: { 'hoplog_invariant_failures_total{tier="workers",invariant="offset"}': COUNTS },
    rests: { 'hoplog_invariant_failures_total{tier="workers",invariant="offset"}': STAYS },
    labels: { tier: 'workers', invariant: 'offset' },
  },
  JournalFilling: {
    fires: { 'hoplog_journal_fill_ratio{instance="a"}': '0.71x90' },
    rests: { 'hoplog_journal_fill_ratio{instance="a"}': '0.69x90' },
    labels: { instance: 'a' },
  },
  DiskNearlyFull: {
    fires: {
      'hoplog_journal_disk_free_ratio{instance="a",resource="inodes"}': '0.04x90',
      'hoplog_journal_disk_free_ratio{instance="a",resource="bytes"}': '0.9x90',
    },
    rests: { 'hoplog_journal_disk_free_ratio{instance="a",resource="inodes"}': '0.06x90' },
    labels: { instance: 'a', resource: 'inodes' },
  },
  JournalDiskFails: {
    fires: { 'hoplog_journal_sync_failures_total{instance="a"}': COUNTS },
    rests: { 'hoplog_journal_sync_failures_total{instance="a"}': STAYS },
    labels: { instance: 'a' },
  },
  DamagedParts: {
    fires: {
      'hoplog_worker_damaged_parts{instance="a",replica="main",table="clicks"}': '1x90',
      'hoplog_worker_damaged_parts{instance="b",replica="second",table="clicks"}': '0x90',
      'hoplog_worker_damaged_parts{instance="a",replica="main",table="orders"}': '0x90',
    },
    rests: { 'hoplog_worker_damaged_parts{instance="a",replica="main",table="clicks"}': '1x10 0x80' },
    labels: { replica: 'main', table: 'clicks' },
  },
  CountsDiffer: {
    fires: {
      'hoplog_count_difference{instance="a",replica="main",stream="ingest-0",hour="2026-11-30T04:00Z"}':
        '2x90',
      'hoplog_count_difference{instance="b",replica="main",stream="ingest-0",hour="2026-11-30T04:00Z"}':
        '2x90',
      'hoplog_count_difference{instance="a",replica="second"}': '0x90',
    },
    rests: { 'hoplog_count_difference{instance="a",replica="main"}': '0x90' },
    labels: { replica: 'main', stream: 'ingest-0', hour: '2026-11-30T04:00Z' },
  },
  CountsNotCompared: {
    fires: {
      'hoplog_count_compared_age_seconds{instance="a",replica="main"}': '901x90',
      'hoplog_count_compared_age_seconds{instance="b",replica="main"}': '901x90',
    },
    rests: { 'hoplog_count_compared_age_seconds{instance="a",replica="main"}': '899x90' },
    labels: { replica: 'main' },
  },
  ReplicaNotRead: {
    fires: {
      'hoplog_replica_readable{instance="a",replica="second"}': '0x180',
      'hoplog_replica_readable{instance="b",replica="second"}': '0x180',
      'hoplog_replica_readable{instance="a",replica="main"}': '1x180',
    },
    rests: {
      'hoplog_replica_readable{instance="a",replica="main"}': '1x180',
      'hoplog_replica_readable{instance="a",replica="second"}': '0x40 1x140',
    },
    labels: { replica: 'second' },
    atMinute: 70,
  },
  ReplicaBehind: {
    fires: {
      'hoplog_replica_watermark_age_seconds{instance="a",replica="main"}': '1x90',
      'hoplog_replica_watermark_age_seconds{instance="a",replica="second"}': '62x90',
      'hoplog_replica_watermark_age_seconds{instance="b",replica="second"}': '62x90',
    },
    // Both wait for the same stream.
    rests: {
      'hoplog_replica_watermark_age_seconds{instance="a",replica="main"}': '600x90',
      'hoplog_replica_watermark_age_seconds{instance="a",replica="second"}': '600x90',
    },
    labels: { replica: 'second' },
  },
  ClockAhead: {
    fires: { 'hoplog_journal_clock_ahead_seconds{instance="a"}': '6x90' },
    rests: { 'hoplog_journal_clock_ahead_seconds{instance="a"}': '5x90' },
    labels: { instance: 'a' },
  },
  ProcessDown: {
    fires: { 'up{job="hoplog",instance="a"}': '1x10 0x80' },
    rests: { 'up{job="hoplog",instance="a"}': '1x90', 'up{job="other",instance="a"}': '0x90' },
    labels: { job: 'hoplog', instance: 'a' },
  },
  ProcessesMissing: {
    fires: { 'process_start_time_seconds{job="hoplog",tier="api",instance="a"}': '7x60 _x60' },
    rests: { 'process_start_time_seconds{job="hoplog",tier="api",instance="a"}': '7x120' },
    labels: { tier: 'api' },
    atMinute: 80,
  },
  ShipperOutage: {
    fires: { 'hoplog_shipper_outage{instance="a"}': '1x90' },
    rests: { 'hoplog_shipper_outage{instance="a"}': '0x90' },
    labels: { instance: 'a' },
  },
  PostgresDown: {
    fires: { 'hoplog_ingest_link_table_age_seconds{instance="a"}': '16x90' },
    rests: {
      'hoplog_ingest_link_table_age_seconds{instance="a"}': '16x90',
      'hoplog_ingest_link_table_age_seconds{instance="b"}': '1x90',
    },
  },
  StoreFails: {
    fires: { 'hoplog_worker_retries_total{step="insert",cause="timeout"}': '0+4x360' },
    rests: { 'hoplog_worker_retries_total{step="insert",cause="timeout"}': '0+2x360' },
    labels: { step: 'insert', cause: 'timeout' },
    interval: '15s',
  },
  RedirectsRefused: {
    fires: redirects('0+2x90', '0+98x90'),
    rests: redirects('0+1x90', '0+199x90'),
  },
  ApiErrors: {
    fires: requests('0+6x90', '0+94x90'),
    rests: requests('0+4x90', '0+96x90'),
  },
  WatermarkOld: {
    fires: { hoplog_watermark_age_seconds: '31x90' },
    rests: { hoplog_watermark_age_seconds: '29x90' },
  },
  StreamBehind: {
    fires: { 'hoplog_stream_behind_seconds{instance="a",stream="ingest-2",stream_id="01a1"}': '901x90' },
    rests: { 'hoplog_stream_behind_seconds{instance="a",stream="ingest-2",stream_id="01a1"}': '899x90' },
    labels: { stream: 'ingest-2', stream_id: '01a1' },
  },
  StreamOrdinalsFew: {
    fires: { 'hoplog_stream_ordinals_free{instance="a"}': '99x90' },
    rests: { 'hoplog_stream_ordinals_free{instance="a"}': '100x90' },
  },
  LaneBehind: {
    fires: { 'hoplog_worker_lag_seconds{partition="3"}': '31x90' },
    rests: { 'hoplog_worker_lag_seconds{partition="3"}': '29x90' },
    labels: { partition: '3' },
  },
  LogRetention: {
    fires: {
      'hoplog_worker_lag_seconds{partition="9"}': '160000x90',
      hoplog_log_retention_seconds: '604800x90',
    },
    rests: {
      'hoplog_worker_lag_seconds{partition="9"}': '150000x90',
      hoplog_log_retention_seconds: '604800x90',
    },
    labels: { partition: '9' },
    // Apart from LaneBehind, which such a lag fires as well.
    interval: '60s',
  },
  LanesEnd: {
    fires: { 'hoplog_worker_lanes_ended_total{cause="error"}': COUNTS },
    rests: { 'hoplog_worker_lanes_ended_total{cause="lost"}': COUNTS },
  },
  NoStoreLanes: {
    fires: { 'up{job="hoplog",instance="z"}': '1x90', 'hoplog_worker_lanes{consumer="webhooks"}': '1x90' },
    rests: { 'hoplog_worker_lanes{consumer="store"}': '1x90' },
  },
  DeadLetters: {
    fires: { 'hoplog_worker_dead_letters_total{reason="malformed"}': '_x25 1x60' },
    rests: { 'hoplog_worker_dead_letters_total{reason="malformed"}': STAYS },
    labels: { reason: 'malformed' },
  },
  ErasureStands: {
    fires: { hoplog_erasure_age_seconds: '86401x90' },
    rests: { hoplog_erasure_age_seconds: '86399x90' },
  },
  UnderReplicated: {
    fires: { 'hoplog_log_under_replicated_partitions{instance="a"}': '1x90' },
    rests: { 'hoplog_log_under_replicated_partitions{instance="a"}': '0x28 1x60' },
  },
  StandbyMissing: {
    // The workers were replaced meanwhile.
    fires: {
      'hoplog_postgres_standbys{instance="a"}': '2x50',
      'hoplog_postgres_standbys{instance="b"}': '_x51 1x90',
    },
    // A base backup is one connection more.
    rests: { 'hoplog_postgres_standbys{instance="a"}': '2x40 3x10 2x90' },
    atMinute: 75,
  },
  StandbyBehind: {
    fires: { 'hoplog_postgres_slot_retained_bytes{instance="a"}': '4294967297x90' },
    rests: { 'hoplog_postgres_slot_retained_bytes{instance="a"}': '4294967296x90' },
  },
  BackupOld: {
    fires: { 'hoplog_backup_age_seconds{instance="a"}': '172801x90' },
    // One that has not looked since.
    rests: {
      'hoplog_backup_age_seconds{instance="a"}': '172801x90',
      'hoplog_backup_age_seconds{instance="b"}': '60x90',
    },
  },
  OrdersWithoutRate: {
    fires: { 'hoplog_worker_orders_without_rate_total{currency="EUR"}': '0x25 1x80' },
    rests: { 'hoplog_worker_orders_without_rate_total{currency="EUR"}': '0x5 1x100' },
    labels: { currency: 'EUR' },
    atMinute: 75,
  },
  OrdersRefused: {
    fires: { 'hoplog_worker_refused_orders_total{instance="a"}': '_x25 1x60' },
    rests: { 'hoplog_worker_refused_orders_total{instance="a"}': STAYS },
    labels: { instance: 'a' },
  },
  ConnectionEventsFail: {
    fires: { 'hoplog_worker_connection_events_total{provider="stripe",status="failed"}': COUNTS },
    rests: { 'hoplog_worker_connection_events_total{provider="stripe",status="done"}': COUNTS },
    labels: { provider: 'stripe' },
  },
  WebhooksFail: {
    fires: attempts('0+3x90', '0+2x90'),
    rests: attempts('0+2x90', '0+3x90'),
    atMinute: 45,
  },
  MailStands: {
    fires: { hoplog_mail_age_seconds: '1801x90' },
    rests: { hoplog_mail_age_seconds: '1799x90' },
  },
  WebhookDisabled: {
    fires: { hoplog_webhook_disabled_total: COUNTS },
    rests: { hoplog_webhook_disabled_total: STAYS },
  },
};

function redirects(refused: string, answered: string): Series {
  return {
    'hoplog_ingest_redirects_total{outcome="unavailable"}': refused,
    'hoplog_ingest_redirects_total{outcome="redirected"}': answered,
  };
}
function requests(failed: string, answered: string): Series {
  return {
    'hoplog_api_request_seconds_count{status="500"}': failed,
    'hoplog_api_request_seconds_count{status="200"}': answered,
  };
}
function attempts(failed: string, delivered: string): Series {
  return {
    'hoplog_webhook_attempts_total{outcome="retry"}': failed,
    'hoplog_webhook_attempts_total{outcome="delivered"}': delivered,
  };
}

type Alert = { alert: string; labels: { severity: string } };
const alerts = (readYaml(RULES) as { groups: { rules: Alert[] }[] }).groups.flatMap(({ rules }) => rules);

function hasPromtool(): boolean {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('every alert has a case', () => {
  expect(Object.keys(CASES)).toEqual(alerts.map(({ alert }) => alert));
});

test('alerts are counted by release, and the dashboard selects it and the data source', () => {
  for (const [where, expression] of monitoringQueries()) {
    const { selectors, groupings } = parseQuery(expression);
    if (where.startsWith('alert')) {
      for (const { labels } of groupings) expect(labels, where).toContain('release');
    } else {
      for (const { matchers } of selectors)
        expect(
          matchers.map(({ label }) => label),
          where,
        ).toContain('release');
    }
  }
  const dashboard = readFileSync(`${ROOT}deploy/grafana/dashboards/hoplog.json`, 'utf8');
  const sources = new Set(
    [...dashboard.matchAll(/"datasource": \{[^}]*"uid": "([^"]+)"/g)].map(([, uid]) => uid),
  );
  expect([...sources]).toEqual(['$' + '{datasource}']);
});

test('Prometheus fires each alert in its case, and not in a similar one', (context) => {
  context.skip(!hasPromtool(), 'promtool of Prometheus is not installed');
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-alerts-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'cases.json');
  const intervals = Map.groupBy(alerts, ({ alert }) => CASES[alert]?.interval ?? '1m');
  // The series of all alerts at once: evaluating takes longer than comparing.
  const tests = [...intervals].flatMap(([interval, some]) =>
    (['fires', 'rests'] as const).map((kind) => ({
      interval,
      input_series: some.flatMap(({ alert }) =>
        Object.entries(CASES[alert]?.[kind] ?? {}).map(([series, values]) => ({ series, values })),
      ),
      promql_expr_test: some.map((alert) => ({
        expr: `ALERTS{alertname="${alert.alert}", alertstate="firing"}`,
        eval_time: `${CASES[alert.alert]?.atMinute ?? 30}m`,
        exp_samples: kind === 'fires' ? [{ labels: firing(alert), value: 1 }] : [],
      })),
    })),
  );
  // JSON is YAML.
  writeFileSync(path, JSON.stringify({ rule_files: [join(ROOT, RULES)], evaluation_interval: '30s', tests }));
  expect(outputOf('promtool', ['test', 'rules', path])).toContain('SUCCESS');
});

/** Returns the series that Prometheus makes of a firing alert. */
function firing({ alert, labels: { severity } }: Alert): string {
  const labels = { alertname: alert, alertstate: 'firing', severity, ...CASES[alert]?.labels };
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return `ALERTS{${pairs.join(', ')}}`;
}

/** Returns what a program writes, also if it fails. */
function outputOf(file: string, args: string[]): string {
  try {
    return execFileSync(file, args, { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}`;
  }
}
