import { accessSync, chmodSync, constants, existsSync, mkdirSync } from 'node:fs';
import { ConfigError } from '../../core/settings/config.ts';

/**
 * Makes DATA_DIR unless it is there. Nobody else may list it; under root others may pass it, because
 * PostgreSQL runs as a user of its own below it. What is in it is private by itself.
 *
 * @throws {ConfigError} when this user can't make it or may not write to it
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
    throw new ConfigError('DATA_DIR', path, `must be a directory that this user may write to (${code})`);
  }
}

/**
 * Makes a directory of this user alone in DATA_DIR, unless it is there.
 *
 * @throws {ConfigError} when something else has its name, or this user can't make it
 */
export function makeOwnDirectory(dataDir: string, path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'EEXIST' || code === 'ENOTDIR'
        ? `${path} must be a directory, and is none: move it away, or choose another DATA_DIR`
        : `${path} can't be made (${code})`;
    throw new ConfigError('DATA_DIR', dataDir, why);
  }
}

/** The directories above it are ordinary ones. */
function make(path: string): void {
  const umask = process.umask(0o022);
  try {
    mkdirSync(path, { recursive: true });
  } finally {
    process.umask(umask);
  }
}
