import { Button, Group, Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Folders } from '../../../api/links.ts';
import { useApi } from '../../../api/queries.ts';
import NewFolderDialog from '../../../parts/new-folder-dialog.tsx';

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
      {opened && <NewFolderDialog close={close} made={onChange} />}
    </Group>
  );
}
