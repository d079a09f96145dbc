import { accessSync, chmodSync, constants, existsSync, mkdirSync } from 'node:fs';
import { ConfigError } from '../../core/settings/config.ts';

/**
 * Creates DATA_DIR if it does not exist. Other users cannot list it. Under root they can traverse it, because
 * PostgreSQL runs as another user; every file in it is private.
 *
 * @throws {ConfigError} when this user cannot create it or write to it
 */
export function makeDataDir(path: string): void {
  try {
    if (!existsSync(path)) {
      make(path);
      chmodSync(path, process.getuid?.() === 0 ? 0o711 : 0o700);
    }
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError('DATA_DIR', path, `must be a directory that this user can write to (${code})`);
  }
}

/**
 * Creates a private directory in DATA_DIR if it does not exist.
 *
 * @throws {ConfigError} when the path is not a directory or cannot be created
 */
export function makeOwnDirectory(dataDir: string, path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'EEXIST' || code === 'ENOTDIR'
        ? `${path} must be a directory, but is a file: move it away, or choose another DATA_DIR`
        : `cannot create ${path} (${code})`;
    throw new ConfigError('DATA_DIR', dataDir, why);
  }
}

/** Creates missing parent directories with the usual mode. */
function make(path: string): void {
  const umask = process.umask(0o022);
  try {
    mkdirSync(path, { recursive: true });
  } finally {
    process.umask(umask);
  }
}
