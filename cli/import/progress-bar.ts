import cliProgress from 'cli-progress';

/**
 * Shows a progress bar of bytes read on a terminal, and notes on any output. Writes to standard error.
 *
 * @param counts template of the text beside the bar: names of counts in braces
 */
export function createProgressBar(bytes: number, counts: string) {
  const isTerminal = process.stderr.isTTY === true;
  const bar = new cliProgress.SingleBar({
    format: `{bar} {percentage}% | ${counts} | {eta_formatted} left`,
    stream: process.stderr,
    hideCursor: true,
  });
  const none = Object.fromEntries([...counts.matchAll(/\{(\w+)\}/g)].map(([, name]) => [String(name), 0]));
  if (isTerminal) bar.start(bytes, 0, none);
  return {
    read: (more: number) => bar.increment(isTerminal ? more : 0),
    show(now: Record<string, number>) {
      if (isTerminal) bar.update(now);
    },
    note(lines: string[]) {
      for (const line of lines) process.stderr.write(`${isTerminal ? '\r\x1b[K' : ''}hoplog: ${line}\n`);
    },
    stop() {
      if (isTerminal) bar.stop();
    },
  };
}
