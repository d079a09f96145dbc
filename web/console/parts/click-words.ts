import { countryName } from '../formats.ts';

/** `Bonn, Germany`; `Unknown` if both are empty. */
export function placeOf({ country = '', city = '' }: { country?: string; city?: string }): string {
  if (country === '') return city === '' ? 'Unknown' : city;
  return city === '' ? countryName(country) : `${city}, ${countryName(country)}`;
}

/** `Safari on iOS, mobile`. */
export function deviceOf({
  device,
  browser,
  os,
}: {
  device?: string;
  browser?: string;
  os?: string;
}): string {
  const software = [browser, os].filter(Boolean).join(' on ');
  const parts = [software, device].filter(Boolean);
  return parts.length === 0 ? 'Unknown' : parts.join(', ');
}

/** The end of a visitor ID: IDs of the same time share their beginning. */
export const shortId = (id: string) => id.slice(-8);
