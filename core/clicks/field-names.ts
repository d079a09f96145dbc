// Browsers run this file too.
import { CLICK_FIELDS, type ClickField, type SharedPart } from './fields.ts';

type Fields = typeof CLICK_FIELDS;
export type ClickFieldName = keyof Fields;

type ValueOf<F extends ClickField> = F extends { isNullable: true }
  ? string | null
  : F extends { type: 'number' }
    ? number
    : F extends { type: 'boolean' }
      ? boolean
      : F extends { values: readonly (infer V)[] }
        ? V
        : string;

/** The link id of a visit that led to no link, as it is stored. */
export const NO_LINK = '00000000-0000-0000-0000-000000000000';

/** A click as the API and webhooks show it. Unknown text is empty. */
export type ClickRecord = { id: string; ts: string } & { [N in ClickFieldName]: ValueOf<Fields[N]> };

/** The names of the fields, in their order. */
export const CLICK_NAMES = Object.keys(CLICK_FIELDS) as ClickFieldName[];

/** Returns the table's row of a field. */
export const clickField = (name: ClickFieldName): ClickField => CLICK_FIELDS[name];

type DetailName = {
  [N in ClickFieldName]: Fields[N] extends { isNoDetail: true } ? never : N;
}[ClickFieldName];

/** The source of a click, as a journey shows it beside the link. Unknown text is empty. */
export type ClickDetails = Pick<ClickRecord, DetailName>;

/** Fields of {@link ClickDetails}, in their order. */
export const DETAIL_NAMES = CLICK_NAMES.filter(
  (name): name is DetailName => clickField(name).isNoDetail !== true,
);

/** Fields that are a dimension of reports, with its name. */
type DimensionName<N extends ClickFieldName> = Fields[N] extends { dimension: infer D extends string }
  ? D
  : never;

/** Names of the dimensions that are a text of the click, with the field. */
export const TEXT_FIELDS = Object.fromEntries(
  CLICK_NAMES.flatMap((name) => {
    const { type, dimension } = clickField(name);
    return type === 'text' && dimension !== undefined ? [[dimension, name]] : [];
  }),
) as { [N in ClickFieldName as Fields[N]['type'] extends 'text' ? DimensionName<N> : never]: N };

/** Returns the fields in a shared part of an enriched click, each with the part's property. */
export function fieldsOf(part: SharedPart): [ClickFieldName, string][] {
  return CLICK_NAMES.flatMap((name): [ClickFieldName, string][] => {
    const [of, property = ''] = clickField(name).at ?? [];
    return of === part ? [[name, property]] : [];
  });
}
