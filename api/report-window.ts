import { clampToStored, nowNanos } from '../core/time/timestamps.ts';
import { resolveWindow } from './time-window.ts';

/** The window parameters of a request after its schema: `days` is a number by then. */
export type WindowRequest = { days?: number; from?: string; to?: string };

/** A window as it is shown, and as the store can compare with it. */
export type ReportWindow = { shown: { from: string; to: string }; span: { from: bigint; to: bigint } };

/**
 * Resolves the window of a report, up to now unless the request says otherwise.
 *
 * @throws {AppError} `bad_request` when `from` is not before `to`
 */
export function reportWindow({ days, from, to }: WindowRequest): ReportWindow {
  const window = resolveWindow(
    { days: days === undefined ? undefined : String(days), from, to },
    { now: nowNanos() },
  );
  return {
    shown: window.shown,
    span: { from: clampToStored(window.from), to: clampToStored(window.to) },
  };
}
