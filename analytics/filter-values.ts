import { type Dimension, isTextDimension, TEXT_COLUMNS } from '../core/analytics/dimensions.ts';
import { clickField } from '../core/clicks/field-names.ts';
import { agentPartName } from '../core/enrich/agent-names.ts';
import { CHANNELS, filterChannel } from '../core/enrich/channels.ts';
import { requireCountry } from '../core/enrich/countries.ts';
import { DEVICES } from '../core/enrich/devices.ts';
import { codesOfLanguage } from '../core/enrich/languages.ts';
import { hostName } from '../core/enrich/referer.ts';
import { requireRegion } from '../core/enrich/region-codes.ts';
import { sourceName } from '../core/enrich/sources.ts';
import { badRequest } from '../core/errors.ts';
import { readEach } from '../core/faults.ts';
import { isUuid } from '../core/ids.ts';
import { CONTINENT_CODES, RULE_ID } from '../core/links/rules/types.ts';
import type { Filter } from './filters.ts';

/** The place of a filter's values in the request. */
type Path = { list: string; value(position: number): string };

/**
 * Reads a value that is not empty, and returns each spelling that clicks may have of it. @throws {AppError}
 * `bad_request` for a value that no click can have
 */
type Reader = (path: string, value: string) => string | string[];

/**
 * Returns a filter with its values in the spelling of clicks, `DE` for `de`. An empty value is unknown.
 *
 * @throws {AppError} `bad_request` that names the field, for faults beyond the schema: no values, or a value that no
 * click can have
 */
export function readFilter(filter: Filter, path: Path): Filter {
  const { dimension, operator, values } = filter;
  if (operator === 'is_empty') {
    if (values.length > 0) throw badRequest(path.list, 'must be left out with is_empty');
    return filter;
  }
  if (values.length === 0) throw badRequest(path.list, 'must be a list of 1 to 500 items');
  if (operator !== 'is' && operator !== 'is_not') {
    const empty = values.indexOf('');
    if (empty !== -1) throw badRequest(path.value(empty), 'must be a string of at least 1 character');
    return filter;
  }
  const read = readerOf(dimension);
  const found = readEach(values, (value, n) => {
    const at = path.value(n);
    const known = value === '' ? '' : read(at, value);
    return [known].flat().map((one) => ({ value: one, path: at }));
  }).flat();
  return { ...filter, values: found.map((one) => one.value), paths: found.map((one) => one.path) };
}

function readerOf(dimension: Dimension): Reader {
  const own = READERS[dimension];
  if (own) return own;
  const { values } = isTextDimension(dimension) ? clickField(TEXT_COLUMNS[dimension]) : {};
  return values ? oneOf(values.filter((value) => value !== '')) : (_, value) => value;
}

/** A value of a list, in any case. */
function oneOf(known: readonly string[]): Reader {
  return (path, value) => {
    const found = known.find((one) => one.toLowerCase() === value.toLowerCase());
    if (found === undefined) throw badRequest(path, `must be one of ${known.join(', ')}`);
    return found;
  };
}

function integer(least: number, most: number, what: string): Reader {
  return (path, value) => {
    const number = /^\d{1,10}$/.test(value) ? Number(value) : -1;
    if (number < least || number > most) throw badRequest(path, `must be ${what}`);
    return String(number);
  };
}

const id: Reader = (path, value) => {
  if (!isUuid(value)) throw badRequest(path, 'must be a UUID');
  return value.toLowerCase();
};

const ruleId: Reader = (path, value) => {
  if (!RULE_ID.test(value))
    throw badRequest(path, 'must be 1 to 64 letters, digits, hyphens and underscores');
  return value;
};

const folded: Reader = (_, value) => value.toLowerCase();
/** Checked by `requireAgentParts`. */
const agentPart: Reader = (_, value) => agentPartName(value);

/** RFC 6793: 32 bits. */
const MOST_ASN = 4_294_967_295;
const asn = integer(0, MOST_ASN, `an integer from 0 to ${MOST_ASN}`);

/** Dimensions without a reader accept any text, or the list of values in the table of click fields. */
const READERS: Partial<Record<Dimension, Reader>> = {
  link: id,
  campaign: id,
  folder: id,
  rule: ruleId,
  variant: ruleId,
  channel: (path, value) => {
    const channel = filterChannel(value.toLowerCase());
    if (channel === null) throw badRequest(path, `must be one of ${CHANNELS.join(', ')}`);
    return channel;
  },
  country: requireCountry,
  continent: oneOf(CONTINENT_CODES),
  region: requireRegion,
  device: oneOf(DEVICES),
  os: agentPart,
  browser: agentPart,
  language: (path, value) => {
    if (!/^[a-z]{2,3}$/i.test(value))
      throw badRequest(path, 'must be a language of two or three letters, such as de');
    return codesOfLanguage(value);
  },
  domain: folded,
  source: (_, value) => sourceName(value),
  referer_host: (_, value) => hostName(value),
  asn: (path, value) => asn(path, value.replace(/^AS(?=\d)/i, '')),
  weekday: integer(1, 7, 'an integer from 1 (Monday) to 7 (Sunday)'),
  hour_of_day: integer(0, 23, 'an integer from 0 to 23'),
};
