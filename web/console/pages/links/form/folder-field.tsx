import { Button, Group, Modal, Select, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { fieldError, messageOf } from '../../../api/failures.ts';
import type { Folders } from '../../../api/links.ts';
import { useApi, useSend } from '../../../api/queries.ts';
import type { ResponseOf } from '../../../api/responses.ts';

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
      <Modal opened={opened} onClose={close} title="New folder" closeButtonProps={{ 'aria-label': 'Close' }}>
        <NewFolder
          made={(id) => {
            onChange(id);
            close();
          }}
        />
      </Modal>
    </Group>
  );
}

function NewFolder({ made }: { made: (id: string) => void }) {
  const [name, setName] = useState('');
  const create = useSend<string, ResponseOf<'/folders', 'post'>>(
    (sent) => ({ path: '/folders', body: { name: sent }, once: true }),
    {
      refresh: ['/folders'],
      tellFailure: false,
    },
  );
  const error = create.isError ? (fieldError(create.error, 'name') ?? messageOf(create.error)) : null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate(name.trim(), { onSuccess: ({ id }) => made(id) });
      }}
    >
      <TextInput
        label="Name"
        required
        maxLength={100}
        data-autofocus
        value={name}
        error={error}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Group justify="flex-end" mt="md">
        <Button type="submit" loading={create.isPending}>
          Create
        </Button>
      </Group>
    </form>
  );
}
