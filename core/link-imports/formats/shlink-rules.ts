import { objectIn } from '../nested-values.ts';
import { RowProblem } from '../source-row.ts';
import { instantText } from '../values.ts';

/** A cell without rules. */
const NONE = /^(?:|null|none|false|0|no)$/i;

/**
 * Converts the rules of Shlink, as `GET /rest/v3/short-urls/{shortCode}/redirect-rules` returns them in `redirectRules`
 * (`longUrl`, `priority`, `conditions` with `type`, `matchKey` and `matchValue`; `SetShortUrlRedirectRule.json` in the
 * OpenAPI document of https://github.com/shlinkio/shlink).
 *
 * @throws {RowProblem} for a condition that has no counterpart: without it the rule would decide for others
 */
export function shlinkRules(value: unknown): unknown[] | null {
  const given = objectIn(value);
  if (!Array.isArray(given)) {
    if (given === null && NONE.test(String(value ?? '').trim())) return null;
    throw new RowProblem('redirectRules', 'must be a list of rules, as the API of Shlink returns it');
  }
  if (given.length === 0) return null;
  return given
    .map((rule) => rule as { longUrl?: unknown; priority?: unknown; conditions?: unknown })
    .toSorted((a, b) => Number(a.priority ?? 0) - Number(b.priority ?? 0))
    .map(({ longUrl, conditions }) => ({
      destination_url: longUrl,
      conditions: (Array.isArray(conditions) ? conditions : []).map(conditionOf),
    }));
}

type Condition = { type?: unknown; matchKey?: unknown; matchValue?: unknown };

const is = (type: string, value: unknown) => ({ type, operator: 'is', values: [value] });

function conditionOf(condition: Condition): unknown {
  const { type, matchKey: name, matchValue: value } = condition;
  switch (type) {
    case 'device':
      return value === 'mobile' || value === 'desktop' ? is('device', value) : is('os', value);
    case 'language':
      return is('language', value);
    case 'geolocation-country-code':
      return is('country', value);
    case 'query-param':
      return { type: 'query', operator: 'is', name, values: [value] };
    case 'any-value-query-param':
      return { type: 'query', operator: 'exists', name };
    case 'valueless-query-param':
      return { type: 'query', operator: 'is', name, values: [''] };
    case 'before-date':
      return { type: 'time', before: instantText(String(value)) };
    case 'after-date':
      return { type: 'time', after: instantText(String(value)) };
    default:
      throw new RowProblem('redirectRules', `has a condition without a counterpart here: ${String(type)}`);
  }
}
