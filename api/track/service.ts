import { AppError } from '../../core/errors.ts';
import type { EventLogWriter } from '../../core/event-log/port.ts';
import type { Unstamped } from '../../core/events/types.ts';

/**
 * Writes an event to the journal. Resolves when it is on disk.
 *
 * @throws {AppError} `unavailable` when the journal is full or the disk failed
 */
export async function writeEvent(eventLog: EventLogWriter, event: Unstamped): Promise<void> {
  const outcome = await new Promise((resolve) => eventLog.append(event, resolve));
  if (outcome === 'lost') throw new AppError('unavailable', 'the journal is full; try again');
}
