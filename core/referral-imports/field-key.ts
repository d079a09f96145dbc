/** Returns a column's name for comparison, without case, blanks and punctuation. */
export const fieldKey = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
