import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export type Question = {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string;
};

/**
 * Repeats one request over a keep-alive connection until the signal fires.
 *
 * @returns how often each status came; an error's code where there was no response
 */
export async function askAllTheWhile(question: Question, signal: AbortSignal): Promise<Map<string, number>> {
  const agent = new Agent({ keepAlive: true });
  const seen = new Map<string, number>();
  while (!signal.aborted) {
    const response = await ask(question, agent);
    seen.set(response, (seen.get(response) ?? 0) + 1);
    await delay(30);
  }
  agent.destroy();
  return seen;
}

function ask({ method, url, headers = {}, body = '' }: Question, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    const sent = request(url, { method, agent, headers }, (response) => {
      response.once('end', () => resolve(String(response.statusCode)));
      response.once('error', failed);
      response.resume();
    });
    sent.once('error', failed);
    sent.end(body);
  });
}
