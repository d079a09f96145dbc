import { Select } from '@mantine/core';
import { useState } from 'react';
import type { Folders, LinkRecord } from '../../api/links.ts';
import { afterSuccess, useApi, useSend } from '../../api/queries.ts';
import { plural } from '../../formats.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import type { ChangeResults } from './set-each.ts';

const NONE = 'none';

type Props = { links: LinkRecord[]; close: () => void; done: (results: ChangeResults) => void };

/** Moves the selected links to a folder, or out of theirs. */
export function MoveDialog({ links, close, done }: Props) {
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
    <FormDialog
      title={`Move ${plural(links.length, 'link', 'links')}`}
      close={close}
      send={move}
      submit={() => folder !== null && afterSuccess(move.mutateAsync(folder), ({ results }) => done(results))}
      label="Move"
      failed="Not moved"
      isReady={folder !== null}
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
    </FormDialog>
  );
}
