import { dataFrom } from '../core/time/retention.ts';
import { clampToStored, formatInstantShort, nowNanos } from '../core/time/timestamps.ts';
import type { Workspace } from '../sql/workspaces/workspaces.ts';
import { resolveWindow } from './time-window.ts';

/** The window parameters of a validated request. */
export type WindowRequest = { days?: number; from?: string; to?: string };

/**
 * A window as the response shows it and as ClickHouse compares it. `data_from`: the workspace keeps clicks for a
 * limited time, and the window begins before them.
 */
export type ReportWindow = {
  shown: { from: string; to: string; data_from?: string };
  span: { from: bigint; to: bigint };
};

/**
 * Resolves the window of a report, which ends now by default. Nothing before `data_from` is in a report, whether it
 * has been removed already or not.
 *
 * @param workspace whose retention limits the window
 * @param within the field of the request that holds the window, for errors
 * @throws {AppError} `bad_request` when `from` is not before `to`
 */
export function reportWindow(
  { days, from, to }: WindowRequest,
  workspace: Pick<Workspace, 'retention_months'> | null = null,
  within?: string,
): ReportWindow {
  const window = resolveWindow(
    { days: days === undefined ? undefined : String(days), from, to },
    { now: nowNanos(), ...(within !== undefined && { within }) },
  );
  const months = workspace?.retention_months ?? null;
  const begin = months === null ? null : BigInt(dataFrom(months, Date.now())) * NANOS_PER_MILLI;
  if (begin === null || begin <= window.from) {
    return { shown: window.shown, span: { from: clampToStored(window.from), to: clampToStored(window.to) } };
  }
  const end = clampToStored(window.to);
  return {
    shown: { ...window.shown, data_from: formatInstantShort(begin) },
    span: { from: begin < end ? begin : end, to: end },
  };
}

const NANOS_PER_MILLI = 1_000_000n;
