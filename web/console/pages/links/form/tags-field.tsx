import { TagsInput } from '@mantine/core';
import type { Tags } from '../../../api/links.ts';
import { useApi } from '../../../api/queries.ts';
import type { FormFields } from './fields.ts';

/** Tags of a link, with those that the workspace has. */
export function TagsField({ draft, set, wrong }: FormFields) {
  const tags = useApi<Tags>('/links/tags');
  return (
    <TagsInput
      label="Tags"
      description="Press Enter after each tag."
      data={(tags.data?.tags ?? []).map(({ tag }) => tag)}
      maxTags={50}
      maxLength={50}
      value={draft.tags}
      error={wrong('tags')}
      onChange={(value) => set('tags', value)}
      clearable
      clearButtonProps={{ 'aria-label': 'Remove all tags' }}
    />
  );
}
