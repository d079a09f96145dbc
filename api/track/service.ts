import { AppError } from '../../core/errors.ts';
import type { EventLogWriter } from '../../core/event-log/port.ts';
import type { Unstamped } from '../../core/events/types.ts';

/**
 * Writes an event to the journal. When it resolves the event is on disk.
 *
 * @throws {AppError} `unavailable` when the journal could not take it: it is full, or the disk refused it
 */
export async function writeEvent(eventLog: EventLogWriter, event: Unstamped): Promise<void> {
  const outcome = await new Promise((resolve) => eventLog.append(event, resolve));
  if (outcome === 'lost') throw new AppError('unavailable', 'the journal is full; try again');
}
