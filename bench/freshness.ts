import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { table } from '../cli/output.ts';
import { makeLink } from '../test/support/first-click.ts';
import { type Service, startService } from '../test/support/service.ts';

/**
 * How long after its answer a click stands in `GET /clicks`, polled as an integrator does: `link_ids`, and the
 * previous answer's `watermark` as `since`. Starts the whole service in a folder of its own.
 *
 *   node bench/freshness.ts [--seconds 20] [--rate 500]
 *
 * A click counts as visible when the answer that carries it has arrived, so a poll's own duration and the
 * pause between polls (20 ms) are part of the figure.
 */

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '20' }, rate: { type: 'string', default: '500' } },
});
const seconds = Number(values.seconds);
const rate = Number(values.rate);

type Page = { clicks: { visitor_id: string }[]; next_cursor: string | null; watermark: string };

const directory = mkdtempSync(join(tmpdir(), 'hoplog-freshness-'));
const service = await startService({ dataDir: join(directory, 'data') });
try {
  const key = service.demo?.secret_key ?? '';
  const link = await makeLink(service, key, 'fresh');
  await click(service, link.slug); // not measured: connections, caches
  await delay(2_000);
  await measure(key, link);
} finally {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
}

async function measure(key: string, link: { id: string; slug: string }): Promise<void> {
  const answeredAt = new Map<string, number>();
  const seenAt = new Map<string, number>();
  const waits: number[] = [];
  const end = Date.now() + seconds * 1_000;
  const polling = poll(
    key,
    link.id,
    answeredAt,
    seenAt,
    waits,
    () => Date.now() > end + 500 && answeredAt.size === 0,
  );
  const clicking: Promise<void>[] = [];
  const began = performance.now();
  let sent = 0;
  while (Date.now() < end) {
    const due = Math.floor(((performance.now() - began) / 1_000) * rate);
    for (; sent < due; sent++) {
      clicking.push(
        click(service, link.slug).then((visitor) => {
          // A poll may have shown the click before its answer came through here.
          if (seenAt.has(visitor)) waits.push(0);
          else answeredAt.set(visitor, performance.now());
        }),
      );
    }
    await delay(2);
  }
  await Promise.all(clicking);
  await polling;
  waits.sort((a, b) => a - b);
  const at = (share: number) => `${Math.round(waits[Math.floor(waits.length * share)] ?? 0)} ms`;
  process.stdout.write(
    `${table(
      ['clicks', 'clicks/s', 'p50', 'p90', 'p99', 'max'],
      [[String(waits.length), String(rate), at(0.5), at(0.9), at(0.99), at(0.999999)]],
    )}\n`,
  );
}

/** Polls until `done`, and notes for each new click how long ago it was answered. */
async function poll(
  key: string,
  linkId: string,
  answeredAt: Map<string, number>,
  seenAt: Map<string, number>,
  waits: number[],
  done: () => boolean,
): Promise<void> {
  let since = new Date().toISOString();
  const giveUp = Date.now() + seconds * 1_000 + 30_000;
  while (!done()) {
    if (Date.now() > giveUp) throw new Error(`${answeredAt.size} answered clicks did not become visible`);
    let before = '';
    let next = since;
    do {
      const answer = await fetch(
        `${service.api_url}/clicks?limit=500&link_ids=${linkId}&since=${since}${before && `&before=${before}`}`,
        { headers: { authorization: `Bearer ${key}` } },
      );
      const page = (await answer.json()) as Page;
      const now = performance.now();
      if (before === '') next = page.watermark; // of several pages the first one's
      for (const { visitor_id } of page.clicks) {
        if (seenAt.has(visitor_id)) continue;
        seenAt.set(visitor_id, now);
        const answered = answeredAt.get(visitor_id);
        if (answered === undefined) continue;
        answeredAt.delete(visitor_id);
        waits.push(now - answered);
      }
      before = page.next_cursor ?? '';
    } while (before !== '');
    since = next;
    await delay(20);
  }
}

async function click(service: Service, slug: string): Promise<string> {
  const answer = await fetch(`${service.short_url}/${slug}`, {
    redirect: 'manual',
    headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/142.0.0.0 Safari/537.36' },
  });
  await answer.body?.cancel();
  return new URL(answer.headers.get('location') ?? '').searchParams.get('_vid') ?? '';
}
