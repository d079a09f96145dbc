import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A page of the machine's Firefox, driven through WebDriver BiDi: Playwright needs a Firefox of its own. */
export type FirefoxPage = {
  open(url: string): Promise<void>;
  /** Returns the value of an expression: a string, number, boolean, or null. */
  evaluate(expression: string): Promise<unknown>;
  /** Texts of the console since the last call. */
  said(): string[];
  close(): Promise<void>;
};

type Message = {
  id?: number;
  type?: 'success' | 'error';
  result?: unknown;
  message?: string;
  method?: string;
  params?: { text?: string };
};
type Evaluated = { type: string; result?: { value?: unknown }; exceptionDetails?: { text: string } };

/** Starts Firefox with a profile of its own, and returns its page. */
export async function openFirefox(program: string): Promise<FirefoxPage> {
  const profile = mkdtempSync(join(tmpdir(), 'hoplog-firefox-'));
  const firefox = spawn(program, [
    '--headless',
    '--remote-debugging-port=0',
    '--no-remote',
    '--profile',
    profile,
  ]);
  const socket = new WebSocket(`${await addressOf(firefox)}/session`);
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const waiting = new Map<number, (message: Message) => void>();
  let texts: string[] = [];
  let calls = 0;
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else if (message.method === 'log.entryAdded') texts.push(message.params?.text ?? '');
  });
  const call = (method: string, params: object = {}) =>
    new Promise<unknown>((resolve, reject) => {
      const id = ++calls;
      waiting.set(id, ({ type, result, message }) => {
        waiting.delete(id);
        if (type === 'error') reject(new Error(`${method}: ${message}`));
        else resolve(result);
      });
      socket.send(JSON.stringify({ id, method, params }));
    });

  await call('session.new', { capabilities: {} });
  await call('session.subscribe', { events: ['log.entryAdded'] });
  const { contexts } = (await call('browsingContext.getTree')) as { contexts: { context: string }[] };
  const context = contexts[0]?.context;

  return {
    async open(url) {
      await call('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    async evaluate(expression) {
      const evaluated = (await call('script.evaluate', {
        ...{ expression, target: { context }, awaitPromise: true },
      })) as Evaluated;
      if (evaluated.type === 'exception') throw new Error(evaluated.exceptionDetails?.text);
      return evaluated.result?.value;
    },
    said() {
      const now = texts;
      texts = [];
      return now;
    },
    async close() {
      const ended = new Promise((resolve) => firefox.once('exit', resolve));
      await call('browser.close').catch(() => firefox.kill());
      await ended;
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

function addressOf(firefox: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    firefox.stderr?.on('data', (data) => {
      const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(String(data)) ?? [];
      if (address !== undefined) resolve(address);
    });
    firefox.once('error', reject);
    firefox.once('exit', (code) => reject(new Error(`Firefox ended with ${code}`)));
  });
}
