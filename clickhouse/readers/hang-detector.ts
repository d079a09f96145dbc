import type { ClickHouseClient } from '../client.ts';

/** A read that takes longer may be of a replica that hangs. Milliseconds. */
const SLOW_MS = 1_000;

/** Detects servers that accept requests and never respond, such as stopped processes and hosts behind a lost network. */
export type HangDetector = {
  /**
   * Returns the result of a read. A slow read of a server that responds to checks goes on.
   *
   * @param mayLeave whether the read could be done elsewhere
   * @throws the error of a check, while the read continues in the background
   */
  unlessItHangs<T>(clickhouse: ClickHouseClient, read: Promise<T>, mayLeave: () => boolean): Promise<T>;
};

/** @param check rejects when the server does not respond in time */
export function createHangDetector(check: (clickhouse: ClickHouseClient) => Promise<void>): HangDetector {
  /** All slow reads of a server share a check. */
  const checks = new Map<ClickHouseClient, Promise<void>>();

  function checkOf(clickhouse: ClickHouseClient): Promise<void> {
    const known = checks.get(clickhouse);
    if (known) return known;
    const made = check(clickhouse).finally(() => checks.delete(clickhouse));
    checks.set(clickhouse, made);
    return made;
  }

  return {
    unlessItHangs(clickhouse, read, mayLeave) {
      return new Promise((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined;
        let isOver = false;
        const end = () => {
          isOver = true;
          clearTimeout(timer);
        };
        const checkLater = () => {
          if (!isOver) timer = setTimeout(() => checkOf(clickhouse).then(checkLater, leave), SLOW_MS);
        };
        function leave(error: unknown): void {
          if (isOver) return;
          if (mayLeave()) {
            end();
            reject(error);
          } else checkLater();
        }
        read.then(resolve, reject).finally(end);
        checkLater();
      });
    },
  };
}
