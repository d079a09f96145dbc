import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { machineNow } from '../harness/clock.ts';
import { type PollClient, pollClient, pollOnce } from '../service/poll.ts';

/**
 * Process of the pollers of `bench/pollers.ts`: `node bench/pollers/pollers.ts PLAN`. Each polls its links at fixed
 * times from the previous watermark. A line on standard input with the time of the last click (milliseconds since the
 * epoch) ends the measurement; each poller continues until its watermark has passed that time.
 */

export type PollersPlan = {
  apiUrl: string;
  key: string;
  /** Links of each poller. */
  links: string[][];
  everyMs: number;
  /** File for the received visitors, one per line. */
  seenFile: string;
};

/** Times in milliseconds. A poll lasts from its due time to its last page. */
export type PollersResult = { requests: number[]; polls: number[]; failed: number };

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as PollersPlan;
const seen = new Set<string>();
const result: PollersResult = { requests: [], polls: [], failed: 0 };
let clicksEnd = Number.POSITIVE_INFINITY;
void once(process.stdin, 'data').then(([line]) => {
  clicksEnd = Number(String(line));
});
const measuring = () => clicksEnd === Number.POSITIVE_INFINITY;

async function poller(client: PollClient, links: string[], number: number): Promise<void> {
  let since = new Date().toISOString();
  let due = machineNow() + (number * plan.everyMs) / plan.links.length;
  while (Date.parse(since) <= clicksEnd) {
    await delay(Math.max(0, due - machineNow()));
    const counts = measuring();
    const requests: number[] = [];
    try {
      since = await pollOnce(client, links, since, ({ clicks }, milliseconds) => {
        for (const { visitor_id } of clicks) seen.add(visitor_id);
        requests.push(milliseconds);
      });
    } catch (error) {
      result.failed += 1;
      if (result.failed === 1) process.stderr.write(`${error}\n`);
    }
    const now = machineNow();
    if (counts) {
      result.requests.push(...requests);
      result.polls.push(now - due);
    }
    // A late poll counts as late; later ones do not catch up in a burst.
    due = Math.max(due + plan.everyMs, now);
  }
}

const client = pollClient(plan.apiUrl, plan.key, plan.links.length);
process.stdout.write('{"event":"ready"}\n');
await Promise.all(plan.links.map((links, number) => poller(client, links, number)));
writeFileSync(plan.seenFile, [...seen].join('\n'));
writeFileSync(`${plan.seenFile}.json`, JSON.stringify(result));
process.exit(0);
