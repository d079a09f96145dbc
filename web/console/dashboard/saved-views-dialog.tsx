import { ActionIcon, Button, Group, Stack, TextInput } from '@mantine/core';
import { IconMail } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useApi, useSend } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { useSession } from '../api/session.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Note } from '../parts/note.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { TextPress } from '../parts/text-press.tsx';
import { TrashButton } from '../parts/trash-button.tsx';
import { overTimeBody, useSource } from './source.ts';
import { useView } from './use-view.ts';

type SavedViews = ResponseOf<'/saved-views'>;
type SavedView = SavedViews['saved_views'][number];

const PATH = '/saved-views';

/** The workspace's saved views: opens one, saves the present one, deletes one. */
export default function SavedViewsDialog({ close }: { close: () => void }) {
  const { can } = useSession();
  const [, setSearch] = useSearchParams();
  const views = useApi<SavedViews>(PATH, { limit: 500 });
  const open = (view: SavedView) => {
    setSearch(new URLSearchParams(addressOf(view)));
    close();
  };
  return (
    <Dialog title="Saved views" close={close}>
      <Stack gap="md">
        {can('operator') && <SaveForm />}
        <QueryView query={views} lines={3}>
          {({ saved_views: saved }) =>
            saved.length === 0 ? (
              <Note>
                No saved views yet. A saved view keeps the filters, the time range and the lists for all
                members.
              </Note>
            ) : (
              <Stack component="ul" gap={4} className="plain-list" aria-label="Saved views">
                {saved.map((view) => (
                  <Group component="li" key={view.id} justify="space-between" wrap="nowrap">
                    <TextPress onClick={() => open(view)}>{view.name}</TextPress>
                    {can('operator') && (
                      <Group gap={4} wrap="nowrap">
                        <ActionIcon
                          component={Link}
                          href={`/reports?view=${view.id}`}
                          variant="subtle"
                          color="gray"
                          aria-label={`Send the view ${view.name} as report`}
                          title="Send as report"
                        >
                          <IconMail size={16} stroke={1.6} />
                        </ActionIcon>
                        <DeleteView view={view} />
                      </Group>
                    )}
                  </Group>
                ))}
              </Stack>
            )
          }
        </QueryView>
      </Stack>
    </Dialog>
  );
}

/** The query of the page's URL for a view. A view that another client saved opens with the defaults. */
const addressOf = ({ query: { address } }: SavedView): string => (typeof address === 'string' ? address : '');

function SaveForm() {
  const { view, search } = useView();
  const source = useSource();
  const [name, setName] = useState('');
  const save = useSend<string>(
    (text) => ({
      path: PATH,
      once: true,
      // The query is for clients of the API; the address also holds the chosen lists.
      body: { name: text, query: { ...overTimeBody(view, source), address: search.toString() } },
    }),
    { refresh: [PATH], done: 'View saved' },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') save.mutate(name.trim(), { onSuccess: () => setName('') });
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          label="Save this view as"
          data-autofocus
          maxLength={100}
          style={{ flex: 1 }}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" disabled={name.trim() === ''} loading={save.isPending}>
          Save
        </Button>
      </Group>
    </form>
  );
}

function DeleteView({ view: { id, name, query } }: { view: SavedView }) {
  const remove = useSend<void>(() => ({ path: `${PATH}/${id}`, method: 'DELETE' }), {
    refresh: [PATH],
    done: `View ${name} deleted`,
    undo: () => ({ path: PATH, body: { name, query } }),
  });
  return <TrashButton what={`the view ${name}`} remove={remove} />;
}
