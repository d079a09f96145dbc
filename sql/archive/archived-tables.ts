import type { ArchivedTable } from './archived-table.ts';
import { LINK_TABLES } from './tables/links.ts';
import { ORDER_TABLES } from './tables/orders.ts';
import { LEDGER_TABLES, PROGRAM_TABLES } from './tables/referrals.ts';
import { SERVICE_TABLES } from './tables/services.ts';
import { WORKSPACE_TABLES } from './tables/workspace.ts';

/** Every table of PostgreSQL that is in a workspace's archive, each after those that it refers to. */
export const ARCHIVED_TABLES: readonly ArchivedTable[] = [
  ...WORKSPACE_TABLES,
  ...LINK_TABLES,
  ...PROGRAM_TABLES,
  ...ORDER_TABLES,
  ...LEDGER_TABLES,
  ...SERVICE_TABLES,
];

const SIGN_IN = 'they belong to the address of the console and to browsers: sign in again';
const REPLAYS = 'responses to repeated requests, kept for a day';
const DELIVERIES = 'the old deployment delivers what it has queued';
const LOG = 'of the deployment’s own event log';

/** Tables with rows of a workspace that are not in its archive, and why, in words for a user. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  passkeys:
    'a passkey belongs to the address of the console: sign in with the password, or by a new invitation',
  invites: 'they end after three days at most',
  sessions: SIGN_IN,
  idempotency_keys: REPLAYS,
  idempotency_reservations: REPLAYS,
  write_previews: 'they end after 5 minutes',
  publishable_uses: 'the count of the hour’s calls with publishable keys',
  webhook_outbox: DELIVERIES,
  webhook_deliveries: `the log of deliveries; ${DELIVERIES}`,
  webhook_batched_clicks: DELIVERIES,
  webhook_listeners: 'they end 5 minutes after their program',
  mails: `the log of mails; ${DELIVERIES}`,
  affiliate_notices: `what affiliates are mailed; ${DELIVERIES}`,
  chat_messages: `the log of messages to chats; ${DELIVERIES}`,
  audit_entries: 'the audit log belongs to the old deployment: GET /audit-log?format=ndjson has it',
  erasures: 'what is being erased is not in the archive',
  destination_pages: 'titles of destinations are fetched again',
  destination_icons: 'icons of destinations are fetched again',
  destination_checks: 'destinations are checked again',
  problem_alerts: 'problems are looked for again',
  problem_checks: 'when workers look for problems',
  pixel_tests: 'tests of the pixel’s installation',
  workspace_imports: 'imports of archives are records of the deployment',
};

/** Tables that hold no rows of one workspace, or only what follows from other tables, and why. */
export const OF_THE_DEPLOYMENT: Readonly<Record<string, string>> = {
  migrations: 'of the database',
  deployment_secrets: 'keys of the deployment',
  visitor_salts: 'keys of the deployment',
  partners: 'platforms, which have workspaces of several owners',
  currency_rates: 'of the operator',
  link_changes: 'written again by triggers',
  ingest_streams: LOG,
  clock_corrections: LOG,
  log_lanes: LOG,
  replicas: 'of the deployment',
  replica_corrections: LOG,
  replica_lanes: LOG,
  replica_repairs: LOG,
  replica_streams: LOG,
  counted_clicks: LOG,
  count_comparisons: LOG,
  count_differences: LOG,
  live_workers: LOG,
  job_leases: LOG,
  last_backup: 'of the deployment',
  dead_letters: LOG,
  waiting_reports: `${LOG}; they wait for a minute at most`,
  link_leases: 'their use is in links.used_elsewhere',
  order_publications: 'every imported order is queued',
  webhook_changes: 'the version of all webhooks',
  webhook_listener_events: DELIVERIES,
  link_folder_moves: 'the folders of clicks that the old deployment delivers',
  passkey_challenges: SIGN_IN,
  provider_sign_ins: SIGN_IN,
  sign_in_attempts: SIGN_IN,
  password_visitors: 'keyed hashes of addresses, whose key is the deployment’s',
  password_resets: SIGN_IN,
  spent_challenges: 'proofs of work of the last day',
  portal_sign_ins: SIGN_IN,
  portal_sessions: SIGN_IN,
  pixel_test_calls: 'of pixel_tests',
};
