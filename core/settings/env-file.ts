import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { SettingsError } from './settings-error.ts';

/** Thrown for a file of settings that can't be used. The message has the file and, where known, the line. */
class EnvFileError extends SettingsError {
  override name = 'EnvFileError';

  constructor(path: string, problem: string) {
    super(`settings file ${path}: ${problem}`);
  }
}

/** `NAME=` with any value. */
const ENTRY = /^\s*(?:export\s+)?[A-Za-z_]\w*\s*=\s*(.*)$/;

/**
 * Completes the process's environment from `.env` in the working directory. The environment has priority, also with
 * an empty value (`NAME=`). `ENV_FILE` names another file, or none when it is empty, for processes that must have no
 * other settings, as under the supervisor and in tests.
 *
 * @throws {EnvFileError} when the file can't be read or has a malformed line; a missing `.env` is fine
 */
export function loadEnvFile(): void {
  const named = process.env.ENV_FILE;
  if (named === '') return;
  const path = resolve(named ?? '.env');
  const text = textOf(path, named === undefined);
  if (text === null) return;
  const problem = problemIn(text);
  if (problem !== null) throw new EnvFileError(path, problem);
  // Without the byte order mark, which would become part of the first name.
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
}

function textOf(path: string, mayBeMissing: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && mayBeMissing) return null;
    throw new EnvFileError(path, code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'must be UTF-8' : message);
  }
}

/**
 * Returns what is wrong with the text of such a file, or null. Node skips malformed lines, or joins them to the next
 * name, so a mistake would go unnoticed.
 */
export function problemIn(text: string): string | null {
  let quote: { mark: string; line: number } | null = null;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (quote !== null) {
      if (line.includes(quote.mark)) quote = null;
      continue;
    }
    if (/^\s*(#|$)/.test(line)) continue;
    const [, value] = ENTRY.exec(line) ?? [];
    if (value === undefined) return `line ${index + 1} must be NAME=value`;
    const [, mark] = /^(["'`])/.exec(value) ?? [];
    if (mark !== undefined && !value.includes(mark, 1)) quote = { mark, line: index + 1 };
  }
  return quote === null ? null : `the quote of line ${quote.line} is never closed`;
}
