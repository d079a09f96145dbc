/** Whether two values are the same to the API, which is sent JSON. */
export const isAlike = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** What a form that changes something sends: the fields of `is` that differ from those it was opened with. */
export function changedFields<Value>(
  was: Record<string, Value>,
  is: Record<string, Value>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(is).filter(([field, value]) => !isAlike(value, was[field])));
}
