import { TextInput } from '@mantine/core';
import { useSend } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { FormDialog } from './form-dialog.tsx';
import { useDraft } from './use-draft.ts';

/**
 * Creates a folder.
 *
 * @param made is given its id, after the dialog has closed
 */
export default function NewFolderDialog({ close, made }: { close: () => void; made: (id: string) => void }) {
  const create = useSend<string, ResponseOf<'/folders', 'post'>>(
    (sent) => ({ path: '/folders', body: { name: sent }, once: true }),
    { refresh: ['/folders'], tellFailure: false },
  );
  const { draft, text } = useDraft({ name: '' }, create.error);
  const onSuccess = ({ id }: { id: string }) => {
    close();
    made(id);
  };
  return (
    <FormDialog
      title="New folder"
      close={close}
      send={create}
      submit={() => create.mutate(draft.name.trim(), { onSuccess })}
      label="Create"
      failed="Not created"
      fields={['name']}
    >
      <TextInput label="Name" required maxLength={100} data-autofocus {...text('name')} />
    </FormDialog>
  );
}
