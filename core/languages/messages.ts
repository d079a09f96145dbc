// Browsers run this file too.
/** A text, with `{name}` where a value comes in. */
export type Message = string | Plural;

/** A text for each plural category of the language (CLDR), chosen by `{count}`. */
export type Plural = { readonly [C in Intl.LDMLPluralRule]?: string } & { readonly other: string };

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type NamesOf<M> = M extends { other: infer Text } ? NamesIn<Text> | 'count' : NamesIn<M>;
type ValuesOf<M> = M extends Plural
  ? Omit<Record<NamesOf<M>, string | number>, 'count'> & { count: number }
  : Record<NamesOf<M>, string | number>;

/** The same messages in another language. */
export type Translation<English> = {
  readonly [Key in keyof English]: English[Key] extends string ? string : Plural;
};

/** Returns a message with its values. Numbers are written as the language writes them; texts stay as they are. */
export type Words<English> = <Key extends keyof English>(
  key: Key,
  ...values: [NamesOf<English[Key]>] extends [never] ? [] : [ValuesOf<English[Key]>]
) => string;

/**
 * Returns the words of a table.
 *
 * @param locale the table's language, with or without a region: `de-CH`
 */
export function createWords<English>(locale: string, messages: Translation<English>): Words<English> {
  const numbers = new Intl.NumberFormat(locale);
  const plurals = new Intl.PluralRules(locale);
  return (key, ...[values]) => {
    const message: Message = messages[key];
    const given: Partial<Record<string, string | number>> = values ?? {};
    const text =
      typeof message === 'string' ? message : (message[plurals.select(Number(given.count))] ?? message.other);
    return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      const value = given[name];
      return typeof value === 'number' ? numbers.format(value) : (value ?? whole);
    });
  };
}
