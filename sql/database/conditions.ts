/** A statement's conditions as a request's filters add them, each with the parameter that holds its value. */
export type Conditions = {
  /** Adds `AND …` unless the value is null. @param condition the SQL, given the parameter's name such as `$3` */
  add(condition: (parameter: string) => string, value: unknown): void;
  /** Adds `AND …` that needs no value. */
  addFixed(condition: string): void;
  /** Adds a value alone. @returns the parameter's name */
  parameter(value: unknown): string;
  /** Every condition so far, each beginning with ` AND `. */
  text(): string;
  values: unknown[];
};

/** @param values of the parameters that the statement has already */
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
