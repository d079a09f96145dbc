/** A statement's conditions as a request's filters add them, each with the parameter that holds its value. */
export type Conditions = {
  /**
   * Adds `AND …` unless the value is null.
   * @param condition returns the SQL for a parameter's name such as `$3`
   */
  add(condition: (parameter: string) => string, value: unknown): void;
  /** Adds `AND …` that needs no value. */
  addFixed(condition: string): void;
  /** Adds a value without a condition. Returns the parameter's name. */
  parameter(value: unknown): string;
  /** The SQL of every condition so far, each starting with ` AND `. */
  text(): string;
  values: unknown[];
};

/**
 * Returns an empty list of conditions.
 *
 * @param values values of the parameters that the statement already has
 */
export function conditionsAfter(...values: unknown[]): Conditions {
  const conditions: string[] = [];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  return {
    add(condition, value) {
      if (value !== null) conditions.push(` AND ${condition(parameter(value))}`);
    },
    addFixed: (condition) => void conditions.push(` AND ${condition}`),
    parameter,
    text: () => conditions.join(''),
    values,
  };
}
