/**
 * Returns SQL: whether the text of the column, stored as sent, may be the email. Compare a matching text beyond ASCII
 * by `normalizeEmail`, because PostgreSQL knows neither punycode nor zero-width characters.
 *
 * @param email SQL of an email, or of `ANY` of some, as `normalizeEmail` returns it
 */
export const mayBeEmail = (column: string, email: string): string =>
  `(lower(${column}) = ${email} OR octet_length(${column}) <> length(${column}))`;
