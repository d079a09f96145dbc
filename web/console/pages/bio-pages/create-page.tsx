import { Button, Text, TextInput } from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconPlus } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { ApiFailure, fieldError, isRetryable } from '../../api/failures.ts';
import { useApi, useSend } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { FormSection } from '../../parts/form-section.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { keptTo, TITLE_MOST } from './character-limit.ts';
import type { Availability, BioPage } from './responses.ts';

const REASONS = {
  invalid: '3 to 40 letters, digits and hyphens',
  reserved: 'This address is reserved',
  taken: 'This address is taken',
} as const;

/** Asks for the title and the permanent address, then opens the editor. */
export function CreatePage() {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button leftSection={<IconPlus size={18} stroke={1.6} />} onClick={open}>
        New page
      </Button>
      {opened && <CreateDialog close={close} />}
    </>
  );
}

/** Shortest and longest address. */
const [SHORTEST, LONGEST] = [3, 40];

/** The address that a title proposes; empty while it is too short for one. */
function addressOf(title: string): string {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? [];
  const address = words.join('-').slice(0, LONGEST).replace(/-$/, '');
  return address.length < SHORTEST ? '' : address;
}

type NewPage = { title: string; slug: string; is_published: boolean; external_id?: string };

const FIELDS = ['title', 'slug', 'external_id'] as const;

function CreateDialog({ close }: { close: () => void }) {
  const [, navigate] = useLocation();
  const { urls } = useSession();
  const create = useSend<NewPage, BioPage>((body) => ({ path: '/bio-pages', body, once: true }), {
    refresh: ['/bio-pages'],
    tellFailure: false,
  });
  const { draft, change, isDirty } = useDraft({ title: '', slug: '', external_id: '' });
  const [asked] = useDebouncedValue(draft.slug.trim(), 300);
  const availability = useApi<Availability>(asked === '' ? null : '/bio-pages/availability', { slug: asked });
  const found = asked === '' || availability.isPlaceholderData ? null : availability.data;
  const isUnknown = isUndecided(create.error);
  const problem = found?.reason && !isUnknown ? REASONS[found.reason] : null;
  const wrong = (field: keyof NewPage) => fieldError(create.error, field) ?? conflictAt(field, create.error);
  const isElsewhere = create.isError && !FIELDS.some((field) => wrong(field) !== null);
  const externalId = draft.external_id.trim();

  const submit = () => {
    // Unpublished at first, so that it can be reviewed.
    create.mutate(
      {
        title: draft.title.trim(),
        slug: draft.slug,
        is_published: false,
        ...(externalId !== '' && { external_id: externalId }),
      },
      {
        onSuccess: (page) => {
          if (found && found.slug !== page.slug) {
            notifications.show({ message: 'A page with this external ID already exists. Here it is.' });
          }
          navigate(`/bio-pages/${page.id}`);
        },
      },
    );
  };
  return (
    <FormDialog
      title="New bio page"
      close={close}
      isDirty={isDirty}
      send={create}
      submit={submit}
      label="Create"
      failed="Not created"
      failure={isElsewhere ? sentenceOf(create.error) : null}
      isReady={problem === null}
    >
      <TextInput
        label="Title"
        data-autofocus
        value={draft.title}
        error={wrong('title')}
        onChange={keptTo(TITLE_MOST, draft.title, (title) => {
          const isProposed = draft.slug === addressOf(draft.title);
          change({ title, ...(isProposed && { slug: addressOf(title) }) });
        })}
      />
      <TextInput
        label="Address"
        description="It cannot be changed later."
        required
        withAsterisk={false}
        autoCapitalize="none"
        spellCheck={false}
        value={draft.slug}
        error={problem ?? wrong('slug')}
        onChange={(event) => {
          if (!create.isPending) create.reset();
          change({ slug: event.currentTarget.value });
        }}
      />
      <Text size="sm" c="dimmed" aria-live="polite" style={{ overflowWrap: 'anywhere' }}>
        {`${urls.public_url}/${found?.slug ?? draft.slug}`}
        {found?.available && !isUnknown && wrong('slug') === null && ' is free.'}
      </Text>
      <FormSection
        title="For developers"
        set={externalId || null}
        hint="External ID"
        isWrong={wrong('external_id') !== null}
      >
        <TextInput
          label="External ID"
          description="The ID of this page in your own system. Optional; it cannot be changed later."
          maxLength={200}
          spellCheck={false}
          value={draft.external_id}
          error={wrong('external_id')}
          onChange={(event) => change({ external_id: event.currentTarget.value })}
        />
      </FormSection>
    </FormDialog>
  );
}

/** Whether the page may have been created despite the failure, so that the address is taken by this form. */
const isUndecided = (error: unknown) =>
  isRetryable(error) || (error instanceof ApiFailure && error.code === 'idempotency_in_progress');

/** A conflict names no field: it concerns the address, which may just have been taken, or the external ID. */
function conflictAt(field: keyof NewPage, error: unknown): string | null {
  if (!(error instanceof ApiFailure) || error.code !== 'conflict') return null;
  return field === (error.message.includes('external_id') ? 'external_id' : 'slug') ? error.message : null;
}
