import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { formatInstant, parseInstant } from '../../core/time/timestamps.ts';
import { CommandFailed, WrongUsage } from '../output.ts';

/** Reads an instant. Returns it in the extended form. */
export function instant(text: string): string {
  const nanos = parseInstant(text);
  if (nanos !== null) return formatInstant(nanos, 9);
  throw new InvalidArgumentError('must be an ISO 8601 date, or date and time with Z or an offset');
}

/** Collects the values of an option that may be given several times. */
export function several(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** Reads comma-separated names. */
export function names(text: string): string[] {
  const given = text.split(',').map((one) => one.trim());
  if (given.includes('')) throw new InvalidArgumentError('must be names, separated by commas');
  return given;
}

/** Collects `name=value` pairs of an option that may be given several times. */
export function pairs(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, name, value] = /^([^=\s]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('must be name=value');
  if (Object.hasOwn(before, name)) {
    throw new InvalidArgumentError(`has ${name} twice; separate several values by commas`);
  }
  return { ...before, [name]: value };
}

/**
 * Reads `--data`: JSON, `@FILE` for that of a file, or `@-` for that of standard input.
 *
 * @throws {CommandFailed} when the file is unreadable
 */
export function dataText(given: string): string {
  return given.startsWith('@') ? dataBytes(given).toString('utf8') : given;
}

/** {@link dataText}, for data that is not text. @throws {CommandFailed} when the file is unreadable */
export function dataBytes(given: string): Buffer<ArrayBuffer> {
  if (!given.startsWith('@')) return Buffer.from(given);
  const path = given.slice(1);
  try {
    return readFileSync(path === '-' ? 0 : path) as Buffer<ArrayBuffer>;
  } catch (error) {
    throw new CommandFailed(`cannot read ${path}: ${(error as Error).message}`);
  }
}

/** {@link dataText} as JSON. @throws {WrongUsage} when it is not JSON */
export function jsonData(given: string): unknown {
  const text = dataText(given);
  try {
    return JSON.parse(text);
  } catch (error) {
    const shape = '--data must be JSON, or @FILE with JSON';
    throw new WrongUsage(`${shape}: ${(error as Error).message}`);
  }
}

/** {@link jsonData}, which must be an object. @throws {WrongUsage} */
export function objectData(given: string | undefined): Record<string, unknown> {
  if (given === undefined) return {};
  const data = jsonData(given);
  if (typeof data === 'object' && data !== null && !Array.isArray(data))
    return data as Record<string, unknown>;
  throw new WrongUsage('--data must be a JSON object');
}

/** `--data`, for the fields of a request that have no option. */
export const dataOption = () =>
  new Option(
    '--data <json>',
    'more fields of the request as JSON, or @FILE, or @- for standard input; options win',
  );

/** `--filter`, as the API takes filters of clicks. */
export const filterOption = () =>
  new Option(
    '--filter <name=value>',
    'only such clicks: country=DE,AT or not_device=bot; several times',
  ).argParser(pairs);

/** Leaves out fields without a value, which an option that was not given has. */
export function given<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
