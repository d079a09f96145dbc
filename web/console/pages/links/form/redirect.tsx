import { Checkbox, NativeSelect, Stack } from '@mantine/core';
import { type FormFields, joined, type LinkFormSection } from './fields.ts';
import { EMPTY_DRAFT, type LinkDraft } from './link-draft.ts';

const STATUSES = [
  { value: '302', label: '302 Found (usual)' },
  { value: '301', label: '301 Moved permanently' },
  { value: '307', label: '307 Temporary, keeps the method' },
  { value: '308', label: '308 Permanent, keeps the method' },
];

type Switch = 'forward_query' | 'forward_path' | 'append_utm' | 'append_visitor' | 'archived';

/** Each switch, with its summary for when it differs from the default. */
const SWITCHES: [field: Switch, label: string, description: string, words: string][] = [
  [
    'forward_query',
    'Pass the query on',
    'Parameters of the short link, such as ?size=m, are added to the destination.',
    'without the query',
  ],
  [
    'forward_path',
    'Pass the path on',
    'What follows the slug, such as /shoes, is appended to the path of the destination. Otherwise it is not found.',
    'path passed on',
  ],
  [
    'append_utm',
    'Add UTM parameters',
    'Those that the destination has already stay as they are.',
    'no UTM parameters',
  ],
  [
    'append_visitor',
    'Add the visitor ID',
    'The parameter _vid, with which conversions on your site find their click.',
    'no visitor ID',
  ],
  ['archived', 'Archived', 'The link redirects as before, and is left out of lists.', 'archived'],
];

function RedirectFields({ draft, set, wrong }: FormFields) {
  return (
    <Stack gap="md">
      <NativeSelect
        label="Status"
        description="Browsers keep none of them, so each visit is counted."
        data={STATUSES}
        value={String(draft.redirect_status)}
        error={wrong('redirect_status')}
        onChange={(event) =>
          set('redirect_status', Number(event.currentTarget.value) as LinkDraft['redirect_status'])
        }
      />
      {SWITCHES.map(([field, label, description]) => (
        <Checkbox
          key={field}
          label={label}
          description={description}
          checked={draft[field]}
          error={wrong(field)}
          onChange={(event) => set(field, event.currentTarget.checked)}
        />
      ))}
    </Stack>
  );
}

/** How the link redirects, and what it adds. */
export const REDIRECT: LinkFormSection = {
  title: 'Redirect',
  hint: 'Status, query, path, UTM, archive',
  paths: /^(redirect_status|forward_query|forward_path|append_utm|append_visitor|archived)$/,
  words: (draft) =>
    joined(
      draft.redirect_status !== EMPTY_DRAFT.redirect_status && String(draft.redirect_status),
      ...SWITCHES.map(([field, , , words]) => draft[field] !== EMPTY_DRAFT[field] && words),
    ),
  Fields: RedirectFields,
};
