import { clampToStored, nowNanos } from '../core/time/timestamps.ts';
import { resolveWindow } from './time-window.ts';

/** The window parameters of a validated request. */
export type WindowRequest = { days?: number; from?: string; to?: string };

/** A window as the response shows it and as ClickHouse compares it. */
export type ReportWindow = { shown: { from: string; to: string }; span: { from: bigint; to: bigint } };

/**
 * Resolves the window of a report, which ends now by default.
 *
 * @param within the field of the request that holds the window, for errors
 * @throws {AppError} `bad_request` when `from` is not before `to`
 */
export function reportWindow({ days, from, to }: WindowRequest, within?: string): ReportWindow {
  const window = resolveWindow(
    { days: days === undefined ? undefined : String(days), from, to },
    { now: nowNanos(), ...(within !== undefined && { within }) },
  );
  return {
    shown: window.shown,
    span: { from: clampToStored(window.from), to: clampToStored(window.to) },
  };
}
