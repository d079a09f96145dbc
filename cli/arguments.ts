import { InvalidArgumentError } from 'commander';
import { MOST_ORIGINS, readOrigin } from '../core/access/allowed-origins.ts';
import { isUuid } from '../core/ids.ts';
import { isCurrency } from '../core/money/money.ts';
import { checkTimeZone } from '../core/time/time-buckets.ts';

/** Reads an option as an integer from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`must be an integer from ${least} to ${most}`);
    }
    return value;
  };
}

/** Reads a name of 1 to 100 characters. */
export function name(text: string): string {
  const value = text.trim();
  if (value.length < 1 || value.length > 100)
    throw new InvalidArgumentError('must be 1 to 100 characters long');
  if (/\p{Cc}/u.test(value)) throw new InvalidArgumentError('must not contain control characters');
  return value;
}

/** Reads a domain such as `example.com` and lowercases it. */
export function domain(text: string): string {
  const value = text.toLowerCase();
  if (
    !/^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(value)
  ) {
    throw new InvalidArgumentError('must be a domain such as example.com, without scheme and path');
  }
  return value;
}

/** Reads comma-separated origins; `any` allows all. */
export function allowedOrigins(text: string): string[] {
  if (text === 'any') return [];
  const given = text.split(',');
  if (given.length > MOST_ORIGINS) throw new InvalidArgumentError(`must be at most ${MOST_ORIGINS} origins`);
  try {
    return [...new Set(given.map((one) => readOrigin('allowed_origins', one)))];
  } catch {
    throw new InvalidArgumentError('must be origins such as https://shop.example, without path and wildcard');
  }
}

/** Reads an ISO 4217 currency code and lowercases it. */
export function currency(text: string): string {
  const value = text.toLowerCase();
  if (!isCurrency(value)) throw new InvalidArgumentError('must be an ISO 4217 currency code such as usd');
  return value;
}

/** Reads a positive decimal such as 1.0832. */
export function exchangeRate(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value === 0 || !Number.isFinite(value)) {
    throw new InvalidArgumentError('must be a positive decimal such as 1.0832');
  }
  return value;
}

/** Reads a visitor id and lowercases it. The zero UUID is rejected: it marks orders without a visitor. */
export function visitorId(text: string): string {
  const value = text.toLowerCase();
  if (!isUuid(value) || /^[0-]+$/.test(value))
    throw new InvalidArgumentError('must be the UUID of a visitor');
  return value;
}

/** Reads the id of an import of clicks and lowercases it. */
export function importId(text: string): string {
  const value = text.trim().toLowerCase();
  if (!isUuid(value)) throw new InvalidArgumentError('must be the import_id of an import, a UUID');
  return value;
}

/** Reads an IANA time zone. */
export function timeZone(text: string): string {
  try {
    return checkTimeZone('time_zone', text);
  } catch {
    throw new InvalidArgumentError('must be an IANA time zone, such as Europe/Berlin');
  }
}
