/** Whether two values are equal as JSON. */
export const isAlike = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The fields of `is` that differ from those the form was opened with. */
export function changedFields<Value>(
  was: Record<string, Value>,
  is: Record<string, Value>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(is).filter(([field, value]) => !isAlike(value, was[field])));
}
