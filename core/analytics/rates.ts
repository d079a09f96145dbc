/** Fraction digits of a rate. Binary arithmetic gives equal rates different last digits. */
export const RATE_DIGITS = 12;
/** Of a rate in minor units: 12 in major units of a currency with two decimals. */
export const MINOR_RATE_DIGITS = 10;
