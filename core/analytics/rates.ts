/** Fraction digits of a rate. Binary arithmetic gives equal rates different last digits. */
export const RATE_DIGITS = 12;
/** Decimals of a rate in minor units. They are 12 of the rate in major units, for a currency with two decimals. */
export const MINOR_RATE_DIGITS = 10;
