import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { SettingsError } from './config.ts';

/** A file of settings that can't be used. Its message names the file and, where there is one, the line. */
export class EnvFileError extends SettingsError {
  override name = 'EnvFileError';

  constructor(path: string, problem: string) {
    super(`settings file ${path}: ${problem}`);
  }
}

/** `NAME=` with whatever follows. */
const ENTRY = /^\s*(?:export\s+)?[A-Za-z_]\w*\s*=\s*(.*)$/;

/**
 * Completes the process's environment by `.env` of the working directory. What the environment says wins, also where
 * it says nothing (`NAME=`). `ENV_FILE` names another file, or none when it is empty: for whoever starts processes of
 * this repository with an environment that is to be all of it, as the supervisor and the tests do.
 *
 * @throws {EnvFileError} when the file can't be read or a line is none of it; a missing `.env` is no error
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
    throw new EnvFileError(path, code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is no UTF-8' : message);
  }
}

/**
 * What is wrong with the text of such a file; null: nothing. Node itself passes over what it does not understand, or
 * makes it part of the next name, so that a typing error would go unseen.
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
    if (value === undefined) return `line ${index + 1} is no NAME=value`;
    const [, mark] = /^(["'`])/.exec(value) ?? [];
    if (mark !== undefined && !value.includes(mark, 1)) quote = { mark, line: index + 1 };
  }
  return quote === null ? null : `the quote of line ${quote.line} is never closed`;
}
