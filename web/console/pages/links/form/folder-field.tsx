import { Button, Group, Select, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Folders } from '../../../api/links.ts';
import { useApi, useSend } from '../../../api/queries.ts';
import type { ResponseOf } from '../../../api/responses.ts';
import { FormDialog } from '../../../parts/form-dialog.tsx';
import { useDraft } from '../../../parts/use-draft.ts';

type Props = { value: string | null; error: string | null; onChange: (id: string | null) => void };

/** Chooses or creates the folder of a link. */
export function FolderField({ value, error, onChange }: Props) {
  const folders = useApi<Folders>('/folders', { limit: 500 });
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <Select
        label="Folder"
        placeholder="No folder"
        data={(folders.data?.folders ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={value}
        error={error}
        onChange={onChange}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'No folder' }}
        flex={1}
      />
      <Button variant="default" onClick={open}>
        New folder
      </Button>
      {opened && (
        <NewFolder
          close={close}
          made={(id) => {
            onChange(id);
            close();
          }}
        />
      )}
    </Group>
  );
}

function NewFolder({ close, made }: { close: () => void; made: (id: string) => void }) {
  const create = useSend<string, ResponseOf<'/folders', 'post'>>(
    (sent) => ({ path: '/folders', body: { name: sent }, once: true }),
    { refresh: ['/folders'], tellFailure: false },
  );
  const { draft, text } = useDraft({ name: '' }, create.error);
  return (
    <FormDialog
      title="New folder"
      close={close}
      send={create}
      submit={() => create.mutate(draft.name.trim(), { onSuccess: ({ id }) => made(id) })}
      label="Create"
      failed="Not created"
      fields={['name']}
    >
      <TextInput label="Name" required maxLength={100} data-autofocus {...text('name')} />
    </FormDialog>
  );
}
