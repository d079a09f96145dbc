/**
 * Returns SQL: the text of the column, stored as it was sent, may be the email. A text beyond ASCII is then to be compared
 * by `normalizeEmail`: PostgreSQL knows neither punycode nor characters without a width.
 *
 * @param email SQL of an email, or of `ANY` of some, as `normalizeEmail` returns it
 */
export const mayBeEmail = (column: string, email: string): string =>
  `(lower(${column}) = ${email} OR octet_length(${column}) <> length(${column}))`;
