/** Returns the body of a call from a form's fields: `answers.site` is a field of `answers`. Empty fields are left out. */
export function bodyOf(fields: Iterable<[string, FormDataEntryValue]>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [name, value] of fields) {
    if (typeof value !== 'string' || value === '') continue;
    const dot = name.indexOf('.');
    if (dot < 0) body[name] = value;
    else {
      const part = name.slice(0, dot);
      body[part] = { ...(body[part] as object | undefined), [name.slice(dot + 1)]: value };
    }
  }
  return body;
}
