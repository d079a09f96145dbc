import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useSession } from '../../../api/session.ts';
import { AddressField } from '../../../parts/address-field.tsx';
import { hostOf, isOnSite, proposedName } from '../../../parts/clean-address.ts';
import { ChannelChips } from './channels.tsx';
import type { FormFields } from './fields.ts';
import { SlugField } from './slug-field.tsx';
import { TagsField } from './tags-field.tsx';

/** Label of the checkbox, which the error of the destination names. */
export const ELSEWHERE = 'The destination is an external site';

/** Destination, slug with its domain, name, tags, and channels. */
export function BasicFields(fields: FormFields) {
  const { draft, set, wrong, existing } = fields;
  return (
    <Stack gap="md">
      <AddressField
        label="Destination URL"
        required
        isFirst={existing === null}
        value={draft.destination_url}
        error={wrong('destination_url')}
        onChange={(value) => set('destination_url', value)}
      />
      {!existing && <ElsewhereField {...fields} />}
      <SlugField {...fields} />
      <TextInput
        label="Name"
        description={
          existing
            ? 'Name of the campaign. It changes for all its links.'
            : 'Name of the campaign in reports.'
        }
        placeholder={existing ? '' : proposedName(draft.destination_url)}
        required={existing !== null}
        maxLength={200}
        value={draft.name}
        error={wrong('name')}
        onChange={(event) => set('name', event.currentTarget.value)}
      />
      <TagsField {...fields} />
      {!existing && <ChannelChips {...fields} />}
    </Stack>
  );
}

/** Asked only where the destination is not on the workspace's own site. */
function ElsewhereField({ draft, set, wrong }: FormFields) {
  const { primary_domain: site } = useSession().workspace;
  const host = hostOf(draft.destination_url);
  const isOwn = site === '' || host === '' || isOnSite(draft.destination_url, site);
  if (isOwn && !draft.external) return null;
  return (
    <Checkbox
      label={ELSEWHERE}
      description={site === '' ? undefined : `Your own site is ${site}.`}
      checked={draft.external}
      error={wrong('external')}
      onChange={(event) => set('external', event.currentTarget.checked)}
    />
  );
}
