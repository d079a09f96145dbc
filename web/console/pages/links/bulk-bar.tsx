import { Button, Group, Paper, TagsInput, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconArchive, IconArchiveOff, IconFolder, IconTag, IconTrash } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { LinkRecord, Tags } from '../../api/links.ts';
import { afterSuccess, refreshReads, useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentence } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { plural } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { showUndo } from '../../parts/undo-notice.tsx';
import { MoveDialog } from './move-dialog.tsx';
import { type ChangeResults, type Restorable, setEach } from './set-each.ts';
import { useAddTags } from './use-add-tags.ts';

type Props = {
  /** The selected links. */
  links: LinkRecord[];
  clear: () => void;
};

const refresh = ['/links', '/analytics', '/folders'];

/**
 * Says how a change of several links went.
 *
 * @param undo sets the links back; left out: the change can't be undone
 */
function tell(
  results: readonly { status: number; body: object }[],
  done: string,
  undo?: () => Promise<void>,
): void {
  const refused = results.filter(({ status }) => status >= 400);
  const made = results.length - refused.length;
  const message = `${plural(made, 'link', 'links')} ${done}`;
  if (made > 0 && undo) showUndo(message, undo);
  else if (made > 0) notifications.show({ message, color: 'hop' });
  const [first] = refused;
  if (!first) return;
  const { error } = first.body as { error?: { message: string } };
  const why = error?.message ?? 'it was refused';
  notifications.show({
    message: `${plural(refused.length, 'link was', 'links were')} not changed. ${sentence(why)}`,
    color: 'red',
  });
}

/** Returns what sets a field of these links back to what it is now. */
function useBack(links: readonly LinkRecord[]) {
  const queries = useQueryClient();
  return (field: Restorable) => async () => {
    const results = await setEach(
      field,
      links.map((link) => ({ id: link.id, value: link[field] })),
    );
    await refreshReads(queries, refresh);
    const refused = results.filter(({ status }) => status >= 400).length;
    if (refused > 0) throw new Error(`${plural(refused, 'link was', 'links were')} not set back.`);
  };
}

/** What can be done with the selected links, at the bottom of the window. */
export default function BulkBar({ links, clear }: Props) {
  const { workspace } = useSession();
  const ids = links.map(({ id }) => id);
  const [tagging, { open, close }] = useDisclosure(false);
  const [moving, { open: openMove, close: closeMove }] = useDisclosure(false);
  const back = useBack(links);
  const areArchived = links.every(({ archived }) => archived);
  const archive = useSend<boolean, { results: ChangeResults }>(
    (archived) => ({ path: '/links/bulk', method: 'PATCH', body: { ids, set: { archived } } }),
    { refresh },
  );
  const remove = useSend<void, { results: ResponseOf<'/links/bulk', 'delete'>['results'] }>(
    () => ({ path: '/links/bulk', method: 'DELETE', body: { ids } }),
    { refresh },
  );
  return (
    <Paper className="bulk-bar" withBorder shadow="md" role="region" aria-label="Selected links">
      <Text size="sm" fw={600} role="status">
        {plural(links.length, 'link', 'links')} selected
      </Text>
      <Group gap="xs">
        {workspace.paid && (
          <>
            <Button size="xs" variant="default" leftSection={<IconTag size={16} />} onClick={open}>
              Add tags
            </Button>
            <Button size="xs" variant="default" leftSection={<IconFolder size={16} />} onClick={openMove}>
              Move
            </Button>
            <Button
              size="xs"
              variant="default"
              loading={archive.isPending}
              leftSection={areArchived ? <IconArchiveOff size={16} /> : <IconArchive size={16} />}
              onClick={() => {
                const [done, undo] = [areArchived ? 'restored' : 'archived', back('archived')];
                afterSuccess(archive.mutateAsync(!areArchived), ({ results }) => {
                  tell(results, done, undo);
                  clear();
                });
              }}
            >
              {areArchived ? 'Restore' : 'Archive'}
            </Button>
          </>
        )}
        <Button size="xs" variant="subtle" onClick={clear}>
          Clear
        </Button>
        <ConfirmButton
          size="xs"
          leftSection={<IconTrash size={16} />}
          question={`Delete ${plural(links.length, 'link', 'links')}?`}
          consequence="They stop redirecting at once. Their slugs stay reserved. Their clicks stay in the workspace statistics."
          yes="Delete"
          pending={remove.isPending}
          onConfirm={() =>
            remove.mutateAsync().then(({ results }) => {
              tell(results, 'deleted');
              clear();
            })
          }
        >
          Delete
        </ConfirmButton>
      </Group>
      {tagging && <TagDialog links={links} close={close} done={clear} />}
      {moving && (
        <MoveDialog
          links={links}
          close={closeMove}
          done={(results) => {
            tell(results, 'moved', back('folder_id'));
            closeMove();
            clear();
          }}
        />
      )}
    </Paper>
  );
}

function TagDialog({ links, close, done }: { links: LinkRecord[]; close: () => void; done: () => void }) {
  const known = useApi<Tags>('/links/tags');
  const [tags, setTags] = useState<string[]>([]);
  const [typed, setTyped] = useState('');
  const save = useAddTags(links);
  const back = useBack(links);
  const submit = () => {
    const undo = back('tags');
    afterSuccess(save.mutateAsync(tags), (results) => {
      tell(results, 'tagged', undo);
      close();
      done();
    });
  };
  return (
    <FormDialog
      title={`Add tags to ${plural(links.length, 'link', 'links')}`}
      close={close}
      send={save}
      submit={submit}
      label="Add"
      failed="Not added"
      isReady={tags.length > 0}
    >
      <TagsInput
        label="Tags"
        description="Press Enter after each tag. Tags belong to the campaign: all its links get them."
        data={(known.data?.tags ?? []).map(({ tag }) => tag)}
        maxTags={50}
        maxLength={50}
        value={tags}
        onChange={setTags}
        searchValue={typed}
        onSearchChange={setTyped}
        // Else the list would cover the buttons.
        dropdownOpened={typed !== ''}
        data-autofocus
      />
    </FormDialog>
  );
}
