import { Checkbox, Group, NativeSelect, Text, Textarea, TextInput } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { FormSection } from '../../parts/form-section.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { type PortalDraft, portalBody, portalDraftOf } from './portal-draft.ts';
import { PortalFields } from './portal-fields.tsx';
import type { Program } from './responses.ts';
import { TermsVersions } from './terms-versions.tsx';

const REVIEWS = [
  { value: 'manual', label: 'After you approve it' },
  { value: 'none', label: 'At once' },
];
const TERMS = [
  { value: 'none', label: 'None' },
  { value: 'text', label: 'A text on the page' },
  { value: 'url', label: 'A page of yours' },
];

/** The page on which people apply to a program. */
export function PortalDialog({ program, close }: { program: Program; close: () => void }) {
  const { urls } = useSession();
  const save = useSend<object>((body) => ({ path: `/programs/${program.id}`, method: 'PATCH', body }), {
    refresh: ['/programs'],
    done: 'Portal saved',
    tellFailure: false,
  });
  const { draft, form, change, text, check, isDirty } = useDraft<PortalDraft>(
    () => portalDraftOf(program),
    save.error,
  );
  const page = `${urls.app_url}/p/${program.code}`;
  return (
    <FormDialog
      title={`Portal of ${program.name}`}
      close={close}
      isLong
      isDirty={isDirty}
      send={save}
      submit={() => save.mutate(portalBody(draft), { onSuccess: close })}
      label="Save"
      failed="Not saved"
      fields={[
        'portal.terms_url',
        'portal.terms_text',
        'portal.terms_version',
        'portal.welcome_text',
        ...draft.fields.flatMap((_, n) => [`portal.fields.${n}.name`, `portal.fields.${n}.label`]),
      ]}
    >
      <Checkbox
        label="People can apply"
        description="On this page, in your name, your logo, and their language:"
        {...check('is_open')}
      />
      <Group gap="xs" wrap="nowrap">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {page}
        </Text>
        <CopyButton value={page} what="the address of the page" />
      </Group>
      <NativeSelect
        label="An applicant becomes a referrer"
        data={REVIEWS}
        value={draft.review}
        onChange={(event) => change({ review: event.currentTarget.value as PortalDraft['review'] })}
      />
      <Textarea
        label="Welcome"
        description="Above the application, in your words. Optional."
        autosize
        minRows={2}
        maxRows={8}
        maxLength={5_000}
        {...text('welcome_text', 'portal.welcome_text', 'The welcome')}
      />
      <PortalFields rows={draft.fields} error={form.error} change={(fields) => change({ fields })} />
      <Checkbox
        label="Affiliates can link to pages"
        description={`Any page below ${program.destination_url}. Referral links then take a path.`}
        {...check('deep_links')}
      />
      <NativeSelect
        label="Terms"
        description="Accepted with each application, with version and time."
        data={TERMS}
        value={draft.terms}
        onChange={(event) => change({ terms: event.currentTarget.value as PortalDraft['terms'] })}
      />
      {draft.terms === 'text' && (
        <Textarea
          label="Text of the terms"
          autosize
          minRows={4}
          maxRows={14}
          maxLength={50_000}
          {...text('terms_text', 'portal.terms_text', 'The text')}
        />
      )}
      {draft.terms === 'url' && (
        <TextInput
          label="Address of the terms"
          placeholder="https://"
          maxLength={2_000}
          {...text('terms_url', 'portal.terms_url', 'The address')}
        />
      )}
      {draft.terms !== 'none' && (
        <TextInput
          label="Version of the terms"
          description="Such as 2026-11. Another one whenever the terms change: affiliates are then asked to accept them."
          maxLength={40}
          {...text('terms_version', 'portal.terms_version', 'The version')}
        />
      )}
      <FormSection
        title="Versions"
        set={null}
        hint="All terms so far, and how many accepted them"
        isWrong={false}
      >
        <TermsVersions programId={program.id} />
      </FormSection>
    </FormDialog>
  );
}
