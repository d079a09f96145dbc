import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { machineNow } from '../harness/clock.ts';

/** Keep-alive client of an integrator with a key. */
export type PollClient = {
  /** Sends a request. @throws Error when the status is not 200 */
  get<T>(path: string): Promise<{ body: T; milliseconds: number }>;
  close(): void;
};

export function pollClient(apiUrl: string, key: string, connections = 1): PollClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const headers = { authorization: `Bearer ${key}` };
  return {
    async get<T>(path: string) {
      const began = machineNow();
      const body = await new Promise<string>((resolve, reject) => {
        get(`${apiUrl}${path}`, { agent, headers }, (answer) => {
          text(answer).then((whole) => {
            if (answer.statusCode === 200) resolve(whole);
            else reject(new Error(`GET ${path.slice(0, 80)} returned status ${answer.statusCode}: ${whole}`));
          }, reject);
        }).once('error', reject);
      });
      return { body: JSON.parse(body) as T, milliseconds: machineNow() - began };
    },
    close: () => agent.destroy(),
  };
}

export type ClicksPage = {
  clicks: { visitor_id: string }[];
  next_cursor: string | null;
  watermark: string;
};

/**
 * Polls all pages since the previous watermark.
 *
 * @param onPage called with each page and its duration, milliseconds
 * @returns the watermark of the first page, for the next poll
 */
export async function pollOnce(
  client: PollClient,
  links: readonly string[],
  since: string,
  onPage: (page: ClicksPage, milliseconds: number) => void,
): Promise<string> {
  const query = `/clicks?limit=500&bots=include&link_ids=${links.join(',')}&since=${encodeURIComponent(since)}`;
  let next: string | null = null;
  for (let before = ''; ; ) {
    const { body, milliseconds }: { body: ClicksPage; milliseconds: number } = await client.get<ClicksPage>(
      query + before,
    );
    next ??= body.watermark;
    onPage(body, milliseconds);
    if (body.next_cursor === null) return next;
    before = `&before=${encodeURIComponent(body.next_cursor)}`;
  }
}

/** Reads the `visitorsFile` of a generator: the time of each redirect, on the machine's clock. */
export function readVisitors(file: string): Map<string, number> {
  const answered = new Map<string, number>();
  for (const line of file.split('\n')) {
    const [visitor = '', at = ''] = line.split(' ');
    if (visitor !== '') answered.set(visitor, Number(at));
  }
  return answered;
}
