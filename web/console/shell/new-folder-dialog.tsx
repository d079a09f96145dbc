import { TextInput } from '@mantine/core';
import { useLocation } from 'wouter';
import { useSend } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { useDraft } from '../parts/use-draft.ts';

/** Creates a folder, and opens it. */
export default function NewFolderDialog({ close }: { close: () => void }) {
  const [, navigate] = useLocation();
  const create = useSend<{ name: string }, ResponseOf<'/folders', 'post'>>(
    (sent) => ({ path: '/folders', body: sent, once: true }),
    { refresh: ['/folders'], done: 'Folder created', tellFailure: false },
  );
  const { draft, text, isDirty } = useDraft({ name: '' }, create.error);
  return (
    <FormDialog
      title="New folder"
      close={close}
      isDirty={isDirty}
      isReady={draft.name.trim() !== ''}
      send={create}
      label="Create"
      failed="Not created"
      fields={['name']}
      submit={() => {
        create.mutate(
          { name: draft.name.trim() },
          {
            onSuccess: ({ id }) => {
              close();
              navigate(`/links?folder_id=${id}`);
            },
          },
        );
      }}
    >
      <TextInput label="Name" required data-autofocus maxLength={100} {...text('name')} />
    </FormDialog>
  );
}
