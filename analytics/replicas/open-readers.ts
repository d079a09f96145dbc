import { createReaders, type Readers } from '../../clickhouse/readers/readers.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { readReplicaMarks } from '../../sql/event-log/replica-marks.ts';

/** Opens the readers of a process, which learn from PostgreSQL how far each replica is. */
export function openReaders(pool: Pool, replicas: readonly Replica[], log: Logger): Readers {
  const names = replicas.map(({ name }) => name);
  return createReaders({ replicas, readMarks: () => readReplicaMarks(pool, names), log });
}
