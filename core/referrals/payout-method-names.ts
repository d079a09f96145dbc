// Browsers run this file too.

const NAMES: Record<string, string> = { paypal: 'PayPal', payoneer: 'Payoneer', wise: 'Wise' };

/** Returns the name of a payout method's service. */
export const methodName = (method: string): string => NAMES[method] ?? method;

/** The payout methods with their names, to choose from. */
export const METHOD_CHOICES = Object.entries(NAMES).map(([value, label]) => ({ value, label }));
