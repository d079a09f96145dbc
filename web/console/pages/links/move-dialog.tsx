import { Button, Group, Modal, Select, Text } from '@mantine/core';
import { useState } from 'react';
import type { Folders, LinkRecord } from '../../api/links.ts';
import { afterSuccess, useApi, useSend } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { plural } from '../../formats.ts';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import type { ChangeResults } from './set-each.ts';

const NONE = 'none';

type Props = { links: LinkRecord[]; close: () => void; done: (results: ChangeResults) => void };

/** Moves the selected links to a folder, or out of theirs. */
export function MoveDialog({ links, close, done }: Props) {
  useFocusBack();
  const folders = useApi<Folders>('/folders', { limit: 500 });
  const [folder, setFolder] = useState<string | null>(null);
  const move = useSend<string, { results: ChangeResults }>(
    (chosen) => ({
      path: '/links/bulk',
      method: 'PATCH',
      body: { ids: links.map(({ id }) => id), set: { folder_id: chosen === NONE ? null : chosen } },
    }),
    { refresh: ['/links', '/folders'], tellFailure: false },
  );
  return (
    <Modal
      opened
      onClose={close}
      title={`Move ${plural(links.length, 'link', 'links')}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (folder !== null) afterSuccess(move.mutateAsync(folder), ({ results }) => done(results));
        }}
      >
        <Select
          label="Folder"
          description="A folder holds campaigns: all links of a campaign move."
          data={[
            { value: NONE, label: 'No folder' },
            ...(folders.data?.folders ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={folder}
          onChange={setFolder}
          searchable
          data-autofocus
        />
        {move.isError && (
          <Text size="sm" c="red" role="alert" mt="xs">
            {sentenceOf(move.error)}
          </Text>
        )}
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" disabled={folder === null} loading={move.isPending}>
            Move
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
