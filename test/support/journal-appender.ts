import { writeSync } from 'node:fs';
import { openTestJournal, testClick } from './journal.ts';

/**
 * Appends to the test stream, for tests that kill the process or fill its disk: `node journal-appender.ts DATA_DIR NAME
 * SYNC_MS BUDGET_BYTES COUNT`. It first writes `opened <pid>`, then a line `<outcome> <sequence> <user agent>` for each
 * append that settled, then closes and ends after COUNT. While every append is lost it pauses between iterations.
 */
const [dataDir = '', name = '', syncMs = '5', budgetBytes = '0', count = '0'] = process.argv.slice(2);
const total = Number(count);

const writer = await openTestJournal(dataDir, { syncMs: Number(syncMs), budgetBytes: Number(budgetBytes) });
print(`opened ${process.pid}\n`);

let appended = 0;
let settled = 0;

/**
 * Writes synchronously, because every settled append must be printed before a kill. The reader of the pipe may be slow.
 */
function print(text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
  }
}

function appendBatch(): void {
  let lines = '';
  let open = 0;
  let lost = false;
  const size = Math.min(1 + Math.floor(Math.random() * 60), total - appended);
  for (let i = 0; i < size; i++) {
    const userAgent = `${name}-${appended++}-${'x'.repeat(i)}`;
    open += 1;
    const { sequence } = writer.append(testClick(userAgent), (outcome) => {
      lines += `${outcome} ${sequence} ${userAgent}\n`;
      lost ||= outcome === 'lost';
      settled += 1;
      open -= 1;
      if (open > 0) return;
      print(lines);
      if (settled === total) void writer.close();
      else if (lost) setTimeout(appendBatch, 5);
      else setImmediate(appendBatch);
    });
  }
}
appendBatch();
