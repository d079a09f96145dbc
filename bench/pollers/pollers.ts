import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { machineNow } from '../harness/clock.ts';
import { type PollClient, pollClient, pollOnce } from '../service/poll.ts';

/**
 * The integrators of `bench/pollers.ts`, in a process of its own: `node bench/pollers/pollers.ts PLAN`. Each polls its
 * own links at fixed times from the watermark of the poll before. A line on standard input, the moment that the
 * clicks end (milliseconds since the epoch), ends the measuring; each goes on until its watermark has passed it.
 */

export type PollersPlan = {
  apiUrl: string;
  key: string;
  /** Links of each poller. */
  links: string[][];
  everyMs: number;
  /** Where the visitors that were seen go, a line for each. */
  seenFile: string;
};

/** Times in milliseconds. A poll: from when it was due to its last page. */
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
    // One that was late is charged for it, and does not catch up with a burst.
    due = Math.max(due + plan.everyMs, now);
  }
}

const client = pollClient(plan.apiUrl, plan.key, plan.links.length);
process.stdout.write('{"event":"ready"}\n');
await Promise.all(plan.links.map((links, number) => poller(client, links, number)));
writeFileSync(plan.seenFile, [...seen].join('\n'));
writeFileSync(`${plan.seenFile}.json`, JSON.stringify(result));
process.exit(0);
