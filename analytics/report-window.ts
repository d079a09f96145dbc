import { previousSpan } from '../core/time/previous-span.ts';
import { dataFrom } from '../core/time/retention.ts';
import { clampToStored, formatInstantShort, nowNanos, requireInstant } from '../core/time/timestamps.ts';
import type { Workspace } from '../sql/workspaces/workspaces.ts';
import { resolveWindow, type TimeWindow } from './time-window.ts';

/** The window parameters of a validated request. */
export type WindowRequest = { days?: number; from?: string; to?: string };

/**
 * A window in the form of the response and in that of ClickHouse. `data_from`: the workspace keeps clicks for a limited
 * time, and the window begins before their start.
 */
export type ReportWindow = {
  shown: { from: string; to: string; data_from?: string };
  span: { from: bigint; to: bigint };
  /** As `span`, with the time before `data_from`. */
  whole: { from: bigint; to: bigint };
};

type Retaining = Pick<Workspace, 'retention_months'>;

/**
 * Resolves the window of a report, which ends now by default. A report excludes everything before `data_from`, removed
 * or not.
 *
 * @param workspace whose retention limits the window
 * @param within the field of the request that holds the window, for errors
 * @throws {AppError} `bad_request` when `from` is not before `to`
 */
export function reportWindow(
  { days, from, to }: WindowRequest,
  workspace: Retaining | null = null,
  within?: string,
): ReportWindow {
  const window = resolveWindow(
    { days: days === undefined ? undefined : String(days), from, to },
    { now: nowNanos(), ...(within !== undefined && { within }) },
  );
  return withinRetention(window, workspace);
}

/** Returns the previous period of a window. Whole days or months of the time zone go back by days or months. */
export function previousWindow(
  window: ReportWindow,
  workspace: Retaining | null,
  timeZone: string,
): ReportWindow {
  const { from, to } = window.shown;
  const span = { from: requireInstant('from', from), to: requireInstant('to', to) };
  const previous = previousSpan(span, timeZone);
  const before = { from: clampToStored(previous.from), to: clampToStored(previous.to) };
  const shown = { from: formatInstantShort(before.from), to: formatInstantShort(before.to) };
  return withinRetention({ ...before, shown }, workspace);
}

/** Returns the start of a workspace's retained clicks, in nanoseconds since the epoch; null: it keeps all. */
export function dataBegin(workspace: Retaining | null): bigint | null {
  const months = workspace?.retention_months ?? null;
  return months === null ? null : BigInt(dataFrom(months, Date.now())) * NANOS_PER_MILLI;
}

function withinRetention(window: TimeWindow, workspace: Retaining | null): ReportWindow {
  const begin: bigint | null = dataBegin(workspace);
  const whole = { from: clampToStored(window.from), to: clampToStored(window.to) };
  if (begin === null || begin <= window.from) return { shown: window.shown, span: whole, whole };
  return {
    shown: { ...window.shown, data_from: formatInstantShort(begin) },
    span: { from: begin < whole.to ? begin : whole.to, to: whole.to },
    whole,
  };
}

const NANOS_PER_MILLI = 1_000_000n;
