import { Button, Group, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFolder } from '@tabler/icons-react';
import { useState } from 'react';
import { fieldError, messageOf } from '../../api/failures.ts';
import type { Folders } from '../../api/links.ts';
import { useApi, useSend } from '../../api/queries.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { PlainList } from '../settings/plain-list.tsx';

type Folder = Folders['folders'][number];

/** Reads that include folder names or filter by folder. */
const refresh = ['/folders', '/links'];

/** Renames and deletes folders. They are created in a link's form. */
export function FoldersButton() {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" leftSection={<IconFolder size={18} />} onClick={open}>
        Folders
      </Button>
      {opened && (
        <Dialog title="Folders" close={close}>
          <FolderList />
        </Dialog>
      )}
    </>
  );
}

function FolderList() {
  const folders = useApi<Folders>('/folders', { limit: 500 });
  return (
    <QueryView
      query={folders}
      empty={{
        when: (data) => data.folders.length === 0,
        show: <EmptyState title="No folder yet">Create one when you create or edit a link.</EmptyState>,
      }}
    >
      {(data) => (
        <PlainList label="Folders">
          {data.folders.map((folder) => (
            <FolderItem key={folder.id} folder={folder} />
          ))}
        </PlainList>
      )}
    </QueryView>
  );
}

function FolderItem({ folder }: { folder: Folder }) {
  const { id, name } = folder;
  const [isRenamed, setRenamed] = useState(false);
  const remove = useSend<void>(() => ({ path: `/folders/${id}`, method: 'DELETE' }), {
    refresh,
    done: 'Folder deleted',
  });
  if (isRenamed) {
    return (
      <li>
        <RenameForm folder={folder} close={() => setRenamed(false)} />
      </li>
    );
  }
  return (
    <li>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text style={{ overflowWrap: 'anywhere' }}>{name}</Text>
        <Group gap="xs" wrap="nowrap">
          <Button size="xs" variant="default" aria-label={`Rename ${name}`} onClick={() => setRenamed(true)}>
            Rename
          </Button>
          <ConfirmButton
            size="xs"
            aria-label={`Delete ${name}`}
            question={`Delete the folder ${name}?`}
            consequence="Its links are kept, without a folder."
            yes="Delete"
            pending={remove.isPending}
            onConfirm={() => remove.mutateAsync()}
          >
            Delete
          </ConfirmButton>
        </Group>
      </Group>
    </li>
  );
}

function RenameForm({ folder: { id, name }, close }: { folder: Folder; close: () => void }) {
  const [text, setText] = useState(name);
  const rename = useSend<string>(
    (sent) => ({ path: `/folders/${id}`, method: 'PATCH', body: { name: sent } }),
    {
      refresh,
      done: 'Folder renamed',
      tellFailure: false,
    },
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!rename.isPending) rename.mutate(text.trim(), { onSuccess: close });
      }}
    >
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <TextInput
          aria-label={`New name of ${name}`}
          required
          maxLength={100}
          flex={1}
          autoFocus
          value={text}
          error={rename.isError && (fieldError(rename.error, 'name') ?? messageOf(rename.error))}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit" loading={rename.isPending}>
          Save
        </Button>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
      </Group>
    </form>
  );
}
