import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { LinkRecord } from '../../api/links.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useFirstFocus } from '../../parts/use-first-focus.ts';
import { BasicFields } from './form/basics.tsx';
import { EMPTY_DRAFT, type LinkDraft } from './form/link-draft.ts';
import { useWrong } from './form/link-form.tsx';
import { useCreateLinks } from './use-create-links.ts';

/** Paths of the failures that the dialog's fields show. */
const FIELDS = ['destination_url', 'external', 'domain', 'slug', 'name', 'tags', 'channel', 'channels'];

/** Creates a link on any page: what most links need. The page of a new link has the rest. */
export default function NewLinkDialog({ close }: { close: () => void }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [made, setMade] = useState<LinkRecord[] | null>(null);
  const { create, error, isPending } = useCreateLinks(setMade);
  const wrong = useWrong(error, draft, null);
  const more = () => {
    close();
    navigate(`/links/new?${new URLSearchParams({ url: draft.destination_url })}`);
  };
  return (
    <FormDialog
      title={made === null ? 'New link' : made.length === 1 ? 'The link is ready' : 'The links are ready'}
      close={close}
      isLong
      isDirty={draft !== EMPTY_DRAFT && draft.destination_url !== ''}
      send={{ error, isPending }}
      submit={() => create(draft)}
      label="Create"
      failed="Not created"
      fields={FIELDS}
      aside={
        <Button variant="subtle" onClick={more}>
          All settings
        </Button>
      }
      made={made && <Made links={made} close={close} />}
    >
      <BasicFields
        draft={draft}
        set={<Field extends keyof LinkDraft>(field: Field, value: LinkDraft[Field]) =>
          setDraft((before) => ({ ...before, [field]: value }))
        }
        fill={(part) => setDraft((before) => ({ ...before, ...part }))}
        wrong={wrong}
        existing={null}
      />
    </FormDialog>
  );
}

function Made({ links, close }: { links: LinkRecord[]; close: () => void }) {
  const [, navigate] = useLocation();
  const first = useFirstFocus<HTMLButtonElement>();
  const [only] = links;
  return (
    <Stack gap="md">
      {links.map(({ id, short_url: url, slug }) => (
        <div key={id} className="copied">
          <code>{url}</code>
          <CopyButton value={url} what={`the short URL of ${slug}`} />
        </div>
      ))}
      <Group justify="flex-end">
        <Button
          variant="default"
          onClick={() => {
            close();
            navigate(only && links.length === 1 ? `/links/${only.id}` : '/links');
          }}
        >
          {links.length === 1 ? 'Open the link' : 'All links'}
        </Button>
        <Button ref={first} onClick={close}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
