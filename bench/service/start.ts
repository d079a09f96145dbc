import type { Command } from '../../cli/embedded/unprivileged.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { storesOf } from '../../test/kafka/deployment.ts';
import { startService } from '../../test/support/service.ts';
import { fillLinks, linkIdOf, slugOf } from '../data/links.ts';
import type { Bench } from '../harness/bench.ts';

/** A service of `npm start` with links. */
export type BenchService = {
  /** Pid of the supervisor. */
  pid: number;
  /** URL of the API, such as `http://127.0.0.1:3000/api/v1`. */
  apiUrl: string;
  ingestPort: number;
  key: string;
  workspaceId: string;
  clickhouseUrl: string;
  pool: Pool;
  /** Link n has `slugs[n]` and `linkIds[n]`. */
  slugs: string[];
  linkIds: string[];
  stop(): Promise<void>;
  /** The standard error so far. */
  log(): string;
};

/** Starts the service in its own directory; it trusts a proxy on this machine. */
export async function startBenchService(
  bench: Bench,
  given: { dataDir: string; links: number; env?: NodeJS.ProcessEnv; as?: Command },
): Promise<BenchService> {
  const { dataDir, links, env, as } = given;
  const service = await startService({
    dataDir,
    env: { TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'warn', ...env },
    ...(as && { as }),
  });
  const stop = async () => {
    if (service.process.exitCode === null) await service.stop();
  };
  bench.defer(stop);
  if (!service.demo) throw new Error(`${dataDir} has data: must be a new directory`);
  const { databaseOwnerUrl, clickhouseUrl } = storesOf(dataDir);
  // The pool of the owner, because filling ends with ANALYZE.
  const pool = createPool(databaseOwnerUrl, { statementTimeoutMs: 600_000 });
  bench.defer(() => pool.end());
  await fillLinks(pool, service.demo.workspace_id, links, true);
  return {
    pid: service.process.pid ?? 0,
    apiUrl: service.api_url,
    ingestPort: Number(new URL(service.short_url).port),
    key: service.demo.secret_key,
    workspaceId: service.demo.workspace_id,
    clickhouseUrl,
    pool,
    slugs: Array.from({ length: links }, (_, n) => slugOf(n)),
    linkIds: Array.from({ length: links }, (_, n) => linkIdOf(n)),
    stop,
    log: service.log,
  };
}
