import { AppError, badRequest } from '../../core/errors.ts';
import { checkAll, readAll } from '../../core/faults.ts';
import { nextRun, type Schedule } from '../../core/reports/schedule.ts';
import { checkTimeZone } from '../../core/time/time-buckets.ts';
import { savedViewExists } from '../../sql/console/saved-views.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import {
  countReports,
  insertReport,
  lockReport,
  type Recipient,
  type Report,
  type ReportSettings,
  updateReport,
} from '../../sql/reports/reports.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Auth } from '../dependencies.ts';
import { requireViewQuery } from '../saved-views/check-query.ts';
import { checkRecipients, type RecipientRules, withStates } from './recipients.ts';
import type { ReportBody, ReportChange, ReportRecord } from './schemas.ts';

/** Maximum number of reports of a workspace. */
export const MOST_REPORTS = 50;

export const noSuchReport = () => new AppError('not_found', 'the workspace has no such report');

type Workspace = Auth['workspace'];

/** Returns a report as the API shows it. */
export async function recordOf(db: Queryable, workspaceId: string, report: Report): Promise<ReportRecord> {
  const [record] = await withStates(db, workspaceId, [report]);
  if (!record) throw noSuchReport();
  return record;
}

/**
 * Returns the settings of a report with a change applied, except its recipients.
 *
 * @throws {AppError} `bad_request` that names the field
 */
export function readSettings(
  before: ReportSettings | null,
  body: ReportBody | ReportChange,
  workspace: Workspace,
  recipients: Recipient[],
): ReportSettings {
  const { name, schedule } = body;
  const { view, given } = readAll({
    view: () => readView(before, body, workspace),
    given() {
      const read = schedule === undefined ? before?.schedule : readSchedule(schedule, workspace);
      if (!read) throw badRequest('schedule', 'is required');
      return read;
    },
  });
  return {
    name: name ?? before?.name ?? '',
    ...view,
    schedule: given,
    recipients,
    show_revenue: body.show_revenue ?? before?.show_revenue ?? false,
    is_active: body.is_active ?? before?.is_active ?? true,
  };
}

/**
 * Checks a create or change body for what does not depend on the report.
 *
 * @param faulty fields that are left out because of a fault
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkReport(
  { schedule, ...body }: ReportChange,
  faulty: ReadonlySet<string>,
  { workspace, isNew, ...rules }: CheckedFor & RecipientRules,
): void {
  checkAll([
    () => checkView(body, faulty, { workspace, isNew }),
    () => schedule && readSchedule(schedule, workspace),
    () => body.recipients && checkRecipients(body.recipients, rules),
  ]);
}

/** Whose report or alert is checked, and whether a create must name a view. */
export type CheckedFor = { workspace: Workspace; isNew: boolean };

/** Checks the view in a body, as {@link readView} reads it. @param faulty fields that are left out */
export function checkView(
  given: GivenView,
  faulty: ReadonlySet<string>,
  { workspace, isNew }: CheckedFor,
): void {
  const { saved_view_id = null, query = null } = given;
  const mustHaveOne = isNew && !faulty.has('saved_view_id') && !faulty.has('query');
  if (mustHaveOne || (saved_view_id !== null && query !== null)) readView(null, given, workspace);
  else if (query !== null) requireViewQuery(query, workspace);
}

type GivenView = { saved_view_id?: string | null; query?: Record<string, unknown> | null };

/** What a report or an alert shows: a saved view, or a query of its own. */
type Shown = Pick<ReportSettings, 'saved_view_id' | 'query'>;

/** Returns the view with a change applied. @throws {AppError} `bad_request` that names the field */
export function readView(before: Shown | null, given: GivenView, workspace: Workspace): Shown {
  // One of the two is null in what a GET shows.
  const { saved_view_id = null, query = null } = given;
  if (saved_view_id !== null && query !== null)
    throw badRequest('query', 'must be left out when `saved_view_id` is given');
  if (saved_view_id !== null) return { saved_view_id, query: null };
  if (query !== null) return { saved_view_id: null, query: requireViewQuery(query, workspace) };
  if (before === null) throw badRequest('saved_view_id', 'is required, or `query`');
  return { saved_view_id: before.saved_view_id, query: before.query };
}

function readSchedule(given: ReportBody['schedule'], workspace: Workspace): Schedule {
  const { every, weekday, day, hour } = given;
  const { time_zone } = readAll({
    weekday() {
      if (weekday !== undefined && every !== 'week')
        throw badRequest('schedule.weekday', 'must be left out unless `every` is week');
    },
    day() {
      if (day !== undefined && every !== 'month')
        throw badRequest('schedule.day', 'must be left out unless `every` is month');
    },
    time_zone: () => checkTimeZone('schedule.time_zone', given.time_zone ?? workspace.time_zone ?? 'UTC'),
  });
  return {
    every,
    ...(every === 'week' && { weekday: weekday ?? 1 }),
    ...(every === 'month' && { day: day ?? 1 }),
    hour,
    time_zone,
  };
}

const nextOf = ({ is_active, schedule }: ReportSettings) =>
  is_active ? nextRun(schedule, Date.now()).at : null;

/** @throws {AppError} `conflict` when the workspace has {@link MOST_REPORTS}, `not_found` for an unknown view */
export async function createReport(
  tx: Queryable,
  workspaceId: string,
  settings: ReportSettings,
): Promise<Report> {
  await lockWorkspace(tx, workspaceId);
  if ((await countReports(tx, workspaceId)) >= MOST_REPORTS)
    throw new AppError('conflict', `a workspace has at most ${MOST_REPORTS} reports; delete one`);
  await requireView(tx, workspaceId, settings);
  return insertReport(tx, workspaceId, settings, nextOf(settings));
}

/**
 * Changes a report. @param settings returns the settings after the change
 *
 * @throws {AppError} `not_found`
 */
export async function changeReport(
  tx: Queryable,
  workspaceId: string,
  id: string,
  settings: (before: Report) => ReportSettings,
): Promise<Report> {
  await lockWorkspace(tx, workspaceId);
  const before = await lockReport(tx, workspaceId, id);
  if (!before) throw noSuchReport();
  const after = settings(before);
  await requireView(tx, workspaceId, after);
  return updateReport(tx, workspaceId, id, after, nextOf(after));
}

/** @throws {AppError} `not_found` for a view that the workspace does not have */
export async function requireView(
  tx: Queryable,
  workspaceId: string,
  { saved_view_id }: Shown,
): Promise<void> {
  if (saved_view_id !== null && !(await savedViewExists(tx, workspaceId, saved_view_id)))
    throw new AppError('not_found', '`saved_view_id` names a view that the workspace does not have');
}
