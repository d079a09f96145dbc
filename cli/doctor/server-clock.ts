import { adviceOn } from '../../core/databases/advice.ts';
import { MOST_AHEAD_SECONDS } from '../status.ts';
import { type Finding, findingsOf } from './finding.ts';

/**
 * Checks that a database responds, and has this machine's time.
 *
 * @param name of the database in the finding
 * @param read returns its time, milliseconds since the epoch
 * @param down creates the finding when it does not respond
 */
export async function checkServerClock(
  name: string,
  read: () => Promise<number>,
  down = (message: string, fix: string) => findingsOf('databases').error(message, fix),
): Promise<Finding> {
  const { ok, error } = findingsOf('clock');
  const before = Date.now();
  let now: number;
  try {
    now = await read();
  } catch (cause) {
    const advice = adviceOn(cause);
    return down(
      `${name} does not respond: ${(cause as Error).message}`,
      advice ? `${advice.message} (${advice.page})` : 'npx hoplog status, and the log of npm start',
    );
  }
  // The server read its clock at some moment of the request.
  const seconds = (now < before ? now - before : Math.max(0, now - Date.now())) / 1_000;
  if (Math.abs(seconds) <= MOST_AHEAD_SECONDS) return ok(`${name} has this machine's time`);
  return error(
    `${name}'s clock differs from this machine's by ${Math.round(seconds)} s`,
    'synchronize both clocks with NTP: timedatectl set-ntp true',
  );
}
