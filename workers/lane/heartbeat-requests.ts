import type { EventLogReader } from '../../core/event-log/port.ts';
import type { IdleLanes } from './idle-lanes.ts';

/** Shorter than the time for which a request keeps heartbeats quick. */
const REQUEST_EVERY_MS = 1_000;

/**
 * Requests heartbeats from all writers while events arrive, because the watermark waits for streams without events. The
 * end of a quiet time requests them at once.
 *
 * @returns the same quiet, for the lanes
 */
export function requestingHeartbeats(
  quiet: IdleLanes,
  reader: Pick<EventLogReader, 'requestHeartbeats'>,
  signal: AbortSignal,
): IdleLanes {
  let timer: NodeJS.Timeout | null = null;

  function request(): void {
    reader.requestHeartbeats();
    timer = setTimeout(() => {
      timer = null;
      if (!signal.aborted && !quiet.isQuiet()) request();
    }, REQUEST_EVERY_MS).unref();
  }
  request();

  return {
    ...quiet,
    end() {
      quiet.end();
      if (timer === null && !signal.aborted) request();
    },
  };
}
