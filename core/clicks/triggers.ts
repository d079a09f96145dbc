// Browsers run this file too.
/** How a click came about: by opening the address, or by scanning its QR code. */
export const TRIGGERS = ['link', 'qr'] as const;
export type Trigger = (typeof TRIGGERS)[number];
