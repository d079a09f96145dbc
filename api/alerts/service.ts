import { type AlertCondition, COUNTED_METRICS } from '../../core/alerts/condition.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { checkAll, readAll } from '../../core/faults.ts';
import {
  type Alert,
  type AlertSettings,
  countAlerts,
  insertAlert,
  lockAlert,
  updateAlert,
} from '../../sql/alerts/alerts.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import type { Recipient } from '../../sql/reports/reports.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Auth } from '../dependencies.ts';
import { checkRecipients, type RecipientRules, withStates } from '../reports/recipients.ts';
import { type CheckedFor, checkView, readView, requireView } from '../reports/service.ts';
import type { AlertBody, AlertPatch, AlertRecord, ConditionBody } from './schemas.ts';

/** Maximum number of alerts of a workspace: each is up to five queries an hour. */
export const MOST_ALERTS = 50;
const QUIET_HOURS = 12;

export const noSuchAlert = () => new AppError('not_found', 'the workspace has no such alert');

/** Returns an alert as the API shows it. */
export async function recordOf(db: Queryable, workspaceId: string, alert: Alert): Promise<AlertRecord> {
  const [record] = await withStates(db, workspaceId, [alert]);
  if (!record) throw noSuchAlert();
  return record;
}

/** Returns the settings of an alert with a change applied. @throws {AppError} `bad_request` that names the field */
export function readSettings(
  before: AlertSettings | null,
  body: AlertBody | AlertPatch,
  workspace: Auth['workspace'],
  recipients: Recipient[],
): AlertSettings {
  const { condition, view } = readAll({
    condition() {
      const read = body.condition === undefined ? before?.condition : readCondition(body.condition);
      if (!read) throw badRequest('condition', 'is required');
      return read;
    },
    view: () => readView(before, body, workspace),
  });
  return {
    name: body.name ?? before?.name ?? '',
    ...view,
    condition,
    recipients,
    quiet_hours: body.quiet_hours ?? before?.quiet_hours ?? QUIET_HOURS,
    is_active: body.is_active ?? before?.is_active ?? true,
  };
}

/**
 * Checks a create or change body for what does not depend on the alert.
 *
 * @param faulty fields that are left out because of a fault
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkAlert(
  body: AlertPatch,
  faulty: ReadonlySet<string>,
  { workspace, isNew, ...rules }: CheckedFor & RecipientRules,
): void {
  checkAll([
    () => checkView(body, faulty, { workspace, isNew }),
    () => body.condition && readCondition(body.condition),
    () => body.recipients && checkRecipients(body.recipients, rules),
  ]);
}

function readCondition({ metric, type, value, percent, window_hours }: ConditionBody): AlertCondition {
  const needsValue = type === 'over' || type === 'under';
  checkAll([
    () => {
      if (needsValue !== (value !== undefined))
        throw badRequest('condition.value', needsValue ? 'is required' : `must be left out with ${type}`);
    },
    () => {
      const fault = type === 'change' ? 'is required' : `must be left out with ${type}`;
      if ((type === 'change') !== (percent !== undefined)) throw badRequest('condition.percent', fault);
    },
    () => {
      if (!needsValue && !COUNTED_METRICS.includes(metric))
        throw badRequest('condition.metric', `must be one of ${COUNTED_METRICS.join(', ')} with ${type}`);
    },
  ]);
  return {
    metric,
    type,
    ...(value !== undefined && { value }),
    ...(percent !== undefined && { percent }),
    window_hours,
  };
}

/** @throws {AppError} `conflict` when the workspace has {@link MOST_ALERTS}, `not_found` for an unknown view */
export async function createAlert(
  tx: Queryable,
  workspaceId: string,
  settings: AlertSettings,
): Promise<Alert> {
  await lockWorkspace(tx, workspaceId);
  if ((await countAlerts(tx, workspaceId)) >= MOST_ALERTS)
    throw new AppError('conflict', `a workspace has at most ${MOST_ALERTS} alerts; delete one`);
  await requireView(tx, workspaceId, settings);
  return insertAlert(tx, workspaceId, settings);
}

/** Changes an alert. @param settings returns the settings after the change @throws {AppError} `not_found` */
export async function changeAlert(
  tx: Queryable,
  workspaceId: string,
  id: string,
  settings: (before: Alert) => AlertSettings,
): Promise<Alert> {
  await lockWorkspace(tx, workspaceId);
  const before = await lockAlert(tx, workspaceId, id);
  if (!before) throw noSuchAlert();
  const after = settings(before);
  await requireView(tx, workspaceId, after);
  const watched = ({ condition, saved_view_id, query }: AlertSettings) =>
    JSON.stringify([condition.metric, condition.type, condition, saved_view_id, query]);
  return updateAlert(tx, workspaceId, id, after, watched(before) !== watched(after));
}
