/** Returns a code as codes are compared: payment providers ignore case, and people type the space around it. */
export function couponKey(code: string): string {
  return code.trim().normalize('NFC').toLowerCase();
}
