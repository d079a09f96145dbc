import { MultiSelect, TagsInput } from '@mantine/core';
import { CHANNELS } from '../../../../../core/enrich/channels.ts';
import { countriesIn } from '../../../../../core/enrich/continents.ts';
import {
  CONTINENT_CODES,
  RULE_DEVICES,
  RULE_SYSTEMS,
  RULE_VISITORS,
  type ValueType,
} from '../../../../../core/links/rules/types.ts';
import { conditionValueName } from './condition-words.ts';

/** Languages that the list offers; any other can be typed. */
const LANGUAGES =
  'ar bg cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nb nl pl pt ro ru sk sl sr sv th tr uk vi zh'.split(
    ' ',
  );
/** Browsers that the list offers, as reports name them; any other can be typed. */
const BROWSERS = [
  'Chrome',
  'Edge',
  'Facebook',
  'Firefox',
  'Instagram',
  'LinkedIn',
  'Mobile Safari',
  'Opera',
  'Safari',
  'Samsung Internet',
  'TikTok',
];

type Props = {
  type: ValueType;
  values: string[];
  /** For screen readers. */
  label: string;
  error: string | null;
  onChange: (values: string[]) => void;
};

/** The values of a condition: chosen from all there are, or typed where there are too many. */
export function ConditionValues({ type, values, label, error, onChange }: Props) {
  const field = {
    'aria-label': label,
    value: values,
    error,
    onChange,
    clearable: true,
    // The field with an error gets the focus: its list would hide the message.
    openOnFocus: false,
  };
  const known = knownValues(type);
  if (known === null) {
    const { placeholder, data } = TYPED[type === 'region' || type === 'browser' ? type : 'language'];
    return (
      <TagsInput {...field} {...(values.length === 0 && { placeholder })} data={data} splitChars={[',']} />
    );
  }
  return (
    <MultiSelect
      {...field}
      searchable
      {...(values.length === 0 && { placeholder: 'Choose' })}
      nothingFoundMessage="Nothing found"
      data={known.map((value) => ({ value, label: conditionValueName(type, value) }))}
    />
  );
}

const TYPED = {
  region: { placeholder: 'DE-BE', data: [] },
  browser: { placeholder: 'Chrome', data: BROWSERS },
  language: { placeholder: 'de', data: LANGUAGES },
};

/** Every value of a type, in the order of the list; null: they are typed. */
function knownValues(type: ValueType): readonly string[] | null {
  switch (type) {
    case 'country':
      return countriesByName();
    case 'continent':
      return CONTINENT_CODES;
    case 'device':
      return RULE_DEVICES;
    case 'os':
      return RULE_SYSTEMS;
    case 'channel':
      return CHANNELS;
    case 'visitor':
      return RULE_VISITORS;
    default:
      return null;
  }
}

let countries: string[] | undefined;

/** All countries in the order of their names, sorted once: a form is rendered at each key. */
function countriesByName(): readonly string[] {
  const nameOf = (code: string) => conditionValueName('country', code);
  countries ??= countriesIn().sort((one, other) => nameOf(one).localeCompare(nameOf(other)));
  return countries;
}
