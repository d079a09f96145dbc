import { expect, test } from 'vitest';
import { continentOf, countriesIn } from './continents.ts';
import { regionCode, regionsOf, requireRegion } from './region-codes.ts';

/** Regions within a region, by country, of the npm package `iso-3166` 4.4.0. */
const WITHIN: Readonly<Record<string, string>> = {
  AZ: 'BAB CUL KAN NV ORD SAD SAH SAR',
  BD: '01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64',
  BF: 'BAL BAM BAN BAZ BGR BLG BLK COM GAN GNA GOU HOU IOB KAD KEN KMD KMP KOP KOS KOT KOW LER LOR MOU NAM NAO NAY NOU OUB OUD PAS PON SEN SIS SMT SNG SOM SOR TAP TUI YAG YAT ZIR ZON ZOU',
  CV: 'BR BV CA CF CR MA MO PA PN PR RB RG RS SD SF SL SM SO SS SV TA TS',
  CZ: '201 202 203 204 205 206 207 208 209 20A 20B 20C 311 312 313 314 315 316 317 321 322 323 324 325 326 327 411 412 413 421 422 423 424 425 426 427 511 512 513 514 521 522 523 524 525 531 532 533 534 631 632 633 634 635 641 642 643 644 645 646 647 711 712 713 714 715 721 722 723 724 801 802 803 804 805 806',
  DO: '01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32',
  ES: 'A AB AL AV B BA BI BU C CA CC CO CR CS CU GC GI GR GU H HU J L LE LO LU M MA MU NA O OR P PM PO S SA SE SG SO SS T TE TF TO V VA VI Z ZA',
  FJ: '01 02 03 04 05 06 07 08 09 10 11 12 13 14',
  FR: '01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 21 22 23 24 25 26 27 28 29 2A 2B 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 69M 6AE 70 71 72 73 74 75C 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95',
  GN: 'BE BF BK CO DB DI DL DU FA FO FR GA GU KA KB KD KE KN KO KS LA LE LO MC MD ML MM NZ PI SI TE TO YO',
  GW: 'BA BL BM CA GA OI QU TO',
  IE: 'CE CN CO CW D DL G KE KK KY LD LH LK LM LS MH MN MO OY RN SO TA WD WH WW WX',
  IQ: 'AR DA SU',
  IT: 'AG AL AN AP AQ AR AT AV BA BG BI BL BN BO BR BS BT BZ CA CB CE CH CL CN CO CR CS CT CZ EN FC FE FG FI FM FR GE GO GR IM IS KR LC LE LI LO LT LU MB MC ME MI MN MO MS MT NA NO NU OR PA PC PD PE PG PI PN PO PR PT PU PV PZ RA RC RE RG RI RM RN RO SA SI SO SP SR SS SU SV TA TE TN TO TP TR TS TV UD VA VB VC VE VI VR VT VV',
  KN: '01 02 03 04 05 06 07 08 09 10 11 12 13 15',
  LK: '11 12 13 21 22 23 31 32 33 41 42 43 44 45 51 52 53 61 62 71 72 81 82 91 92',
  LT: '01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60',
  MA: 'AGD AOU ASZ AZI BEM BER BES BOD BOM BRR CAS CHE CHI CHT DRI ERR ESI ESM FAH FES FIG FQH GUE GUF HAJ HAO HOC IFR INE JDI JRA KEN KES KHE KHN KHO LAA LAR MAR MDF MED MEK MID MOH MOU NAD NOU OUA OUD OUJ OUZ RAB REH SAF SAL SEF SET SIB SIF SIK SIL SKH TAF TAI TAO TAR TAT TAZ TET TIN TIZ TNG TNT YUS ZAG',
  MH: 'ALK ALL ARN AUR EBO ENI JAB JAL KIL KWA LAE LIB LIK MAJ MAL MEJ MIL NMK NMU RON UJA UTI WTH WTJ',
  MW: 'BA BL CK CR CT DE DO KR KS LI LK MC MG MH MU MW MZ NB NE NI NK NS NU PH RU SA TH ZO',
  PH: 'ABR AGN AGS AKL ALB ANT APA AUR BAN BAS BEN BIL BOH BTG BTN BUK BUL CAG CAM CAN CAP CAS CAT CAV CEB COM DAO DAS DAV DIN DVO EAS GUI IFU ILI ILN ILS ISA KAL LAG LAN LAS LEY LUN MAD MAS MDC MDR MGN MGS MOU MSC MSR NCO NEC NER NSA NUE NUV PAM PAN PLW QUE QUI RIZ ROM SAR SCO SIG SLE SLU SOR SUK SUN SUR TAR TAW WSA ZAN ZAS ZMB ZSI',
  RS: '01 02 03 04 05 06 07 25 26 27 28 29',
  UG: '101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 201 202 203 204 205 206 207 208 209 210 211 212 213 214 215 216 217 218 219 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 301 302 303 304 305 306 307 308 309 310 311 312 313 314 315 316 317 318 319 320 321 322 323 324 325 326 327 328 329 330 331 332 333 334 335 336 337 401 402 403 404 405 406 407 408 409 410 411 412 413 414 415 416 417 418 419 420 421 422 423 424 425 426 427 428 429 430 431 432 433 434 435',
};

/**
 * Countries of which ISO puts only some regions into a larger one. None of these regions is within another one of the
 * table.
 */
const BOTH = {
  GW: 'the sector Bissau is beside the regions of the provinces',
  IQ: 'three governorates are in Kurdistan',
};

test('the regions of each country are of one level', () => {
  const mixed = countriesIn().filter((country) => {
    const within = new Set(WITHIN[country]?.split(' '));
    const inner = regionsOf(country).filter((code) => within.has(code.slice(3)));
    return inner.length > 0 && inner.length < regionsOf(country).length;
  });
  expect(mixed.sort()).toEqual(Object.keys(BOTH).sort());
  expect(countriesIn().flatMap(regionsOf).length).toBeGreaterThan(2_000);
});

test('every region is of a country, and its own code', () => {
  const codes = countriesIn().flatMap(regionsOf);
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes.filter((code) => continentOf(code.slice(0, 2)) === '')).toEqual([]);
  expect(codes.map((code) => requireRegion('region', code.toLowerCase()))).toEqual(codes);
});

test.each([
  ['ES', 'Madrid', 'ES-MD'],
  ['ES', 'Catalonia', 'ES-CT'],
  ['ES', 'Valencia', 'ES-VC'],
  ['ES', 'Balearic Islands', 'ES-IB'],
  ['BD', 'Dhaka', 'BD-C'],
  ['BD', 'Dhaka Division', 'BD-C'],
  ['LT', 'Vilnius', 'LT-VL'],
  ['AZ', 'Nakhchivan', 'AZ-NX'],
  ['DE', 'State of Berlin', 'DE-BE'],
  ['DE', 'Atlantis', ''],
])('the region of %s that DB-IP calls %s is %j', (country, name, code) => {
  expect(regionCode(country, name)).toBe(code);
});

test.each([
  ['US-ZZ', 'US-AK, US-AL'],
  ['ES-M', 'ES-MD'],
  ['DE', 'DE-BB'],
  ['XX-1', 'such as DE-BE'],
  ['Berlin', 'such as DE-BE'],
])('%s is refused with the regions that there are', (text, part) => {
  expect(() => requireRegion('region', text)).toThrow(part);
});
