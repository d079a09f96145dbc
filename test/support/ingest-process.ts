import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../cli/embedded/free-port.ts';
import { bound } from './bound-process.ts';
import type { IngestDetails } from './ingest.ts';
import { PROGRAM_ENV, programArguments } from './program.ts';

/** The redirect tier in a process of its own, which a test can kill. */
export type IngestProcess = {
  url: string;
  pid: number;
  /** Its readiness on the metrics port. */
  details(): Promise<IngestDetails>;
  /** Returns its log so far. */
  log(): string;
  /** Sends `kill -9`. */
  kill(): Promise<void>;
  /** Sends SIGTERM. @returns the exit status */
  stop(): Promise<number | null>;
};

/**
 * Starts it and waits for its ready line.
 *
 * @throws Error with its standard error when it ends before that
 */
export async function startIngestProcess(env: Record<string, string>): Promise<IngestProcess> {
  const metricsPort = String(await freePort());
  const { file, args } = bound(process.execPath, programArguments('ingest'));
  const child = spawn(file, args, {
    env: {
      ...PROGRAM_ENV,
      INGEST_PORT: '0',
      METRICS_PORT: metricsPort,
      SHORT_URL: 'http://short.test',
      LOG_LEVEL: 'silent',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const line = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data').then(([text]) => String(text)),
    exited.then(([status]) => {
      throw new Error(`ingest ended with ${status}: ${errors}`);
    }),
  ]);
  const { port } = JSON.parse(line) as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    log: () => errors,
    async details() {
      const response = await fetch(`http://127.0.0.1:${metricsPort}/health/ready`);
      return { ready: response.ok, body: (await response.json()) as IngestDetails['body'] };
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
  };
}
