// Browsers run this file too.
import { badRequest } from '../errors.ts';
import { continentOf, countriesIn } from './continents.ts';

let codes: ReadonlyMap<string, string> | undefined;

/** Codes of countries by code and by English name, in lower case. */
function readCodes(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames('en', { type: 'region' });
  return new Map(
    countriesIn().flatMap((code) => [
      [code.toLowerCase(), code],
      [(names.of(code) ?? code).toLowerCase(), code],
    ]),
  );
}

/** Returns the code of a country by its code or English name; empty: no country. */
export function countryNamed(text: string): string {
  codes ??= readCodes();
  return codes.get(text.toLowerCase()) ?? '';
}

/**
 * Returns the code of a country, given in any case.
 *
 * @throws {AppError} `bad_request` that names the field, and the country with the nearest name
 */
export function requireCountry(path: string, text: string): string {
  const code = text.toUpperCase();
  if (continentOf(code) !== '') return code;
  const meant = countryNamed(text) || codeInUse(code);
  const more = meant === '' ? {} : { hint: `did you mean ${meant}?` };
  throw badRequest(path, 'must be a code of ISO 3166-1, such as DE', more);
}

/** Returns the present code of a country for an outdated one: `GB` for `UK`, `CD` for `ZR`. Empty: none. */
function codeInUse(code: string): string {
  // The European Union's code of Greece. Unicode lists the others.
  if (code === 'EL') return 'GR';
  if (!/^[A-Z]{2}$/.test(code)) return '';
  const region = new Intl.Locale(`und-${code}`).region ?? '';
  return continentOf(region) === '' ? '' : region;
}
