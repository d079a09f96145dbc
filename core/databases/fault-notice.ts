import type { Logger } from '../tier/log.ts';
import { adviceOn } from './advice.ts';

/** Minimum interval between two log lines about one fault. Milliseconds. */
const NOTICE_EVERY = 60_000;

/**
 * Returns a function that logs configuration faults, each once a minute: every request, and every attempt of a retry,
 * meets the same one.
 *
 * @returns whether the error is a configuration fault; then it needs no other line
 */
export function createFaultNotice(log: Pick<Logger, 'error'>): (error: unknown) => boolean {
  const nextAt = new Map<string, number>();
  return (error) => {
    const advice = adviceOn(error);
    if (advice === null) return false;
    const now = performance.now();
    if (now < (nextAt.get(advice.message) ?? 0)) return true;
    nextAt.set(advice.message, now + NOTICE_EVERY);
    log.error({ err: error, settings: advice.settings, page: advice.page }, advice.message);
    return true;
  };
}
