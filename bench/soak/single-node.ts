import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessRecord } from '../../cli/processes/identity.ts';
import { type Service, startService } from '../../test/support/service.ts';
import { memoryByPart } from '../footprint/rest.ts';
import { probedAt } from './inspector.ts';

/** A service of `npm start` in its own directory. */
export type SingleNode = {
  /** Returns the running supervisor and tiers. */
  processes(): { name: string; pid: number }[];
  /** Returns the proportional memory of each part, databases included. Bytes. */
  memory(): Map<string, number>;
  log(): string;
  close(): Promise<void>;
};

const TIERS = ['ingest', 'workers', 'api'];

export async function startSingleNode(): Promise<SingleNode> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-idle-'));
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  let service: Service;
  try {
    service = await startService({ dataDir, env: probedAt('127.0.0.1') });
  } catch (error) {
    remove();
    throw error;
  }
  const { process: supervisor, log, stop } = service;
  return {
    processes() {
      const tiers = TIERS.map((name) => ({ name: `npm start: ${name}`, pid: recordedPid(dataDir, name) }));
      const all = [{ name: 'npm start: supervisor', pid: supervisor.pid ?? 0 }, ...tiers];
      return all.filter(({ pid }) => pid > 0);
    },
    memory: () =>
      new Map([...memoryByPart(supervisor.pid ?? 0)].map(([part, { pssBytes }]) => [part, pssBytes])),
    log,
    async close() {
      await stop();
      remove();
    },
  };
}

/** Process id; 0 if not running. */
function recordedPid(dataDir: string, name: string): number {
  try {
    const record = readFileSync(join(dataDir, 'run', `${name}.child.json`), 'utf8');
    return (JSON.parse(record) as ProcessRecord).pid;
  } catch {
    return 0;
  }
}
