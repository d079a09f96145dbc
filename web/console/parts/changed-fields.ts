/** Whether two values are equal as JSON. */
export const isAlike = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The fields of `is` that differ from those the form was opened with. */
export function changedFields<Value>(
  was: Record<string, Value>,
  is: Record<string, Value>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(is).filter(([field, value]) => !isAlike(value, was[field])));
}

/** The fields of a change with the values that they had before it. */
export const formerFields = (change: object, was: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.keys(change).map((field) => [field, was[field]]));
