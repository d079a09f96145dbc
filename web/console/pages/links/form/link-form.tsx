import { Alert, Button, Group, Stack } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { ApiFailure, fieldDetail } from '../../../api/failures.ts';
import { sentenceOf } from '../../../api/sentence.ts';
import { cleanAddress } from '../../../parts/clean-address.ts';
import { FormSection } from '../../../parts/form-section.tsx';
import { BlocksSkeleton } from '../../../parts/skeletons.tsx';
import { useChangedSince } from '../../../parts/use-changed-since.ts';
import { BasicFields, ELSEWHERE } from './basics.tsx';
import type { FormFields } from './fields.ts';
import { DraftProblem, type LinkDraft } from './link-draft.ts';
import { LinkPreview } from './link-preview.tsx';
import { SECTIONS } from './sections.ts';

type Props = {
  draft: LinkDraft;
  onChange: (draft: LinkDraft) => void;
  existing: FormFields['existing'];
  /** Failure of the last attempt, or null. */
  error: unknown;
  pending: boolean;
  submit: () => void;
  /** Label of the submit button, such as `Create`. */
  label: string;
  /** Target of Cancel. */
  back: string;
};

/** Fields above the sections. */
const BASICS = /^(destination_url|name|slug|tags(\.\d+)?)$/;

/** Whether the form shows the field at `path`; errors of other fields show above the form. */
function isOnPage(path: string, { channels }: LinkDraft, existing: FormFields['existing']): boolean {
  if (path === 'external_id') return channels.length < 2;
  if (BASICS.test(path) || SECTIONS.some(({ paths }) => paths.test(path))) return true;
  return existing === null && /^(external|channels?(\.\d+)?)$/.test(path);
}

/** The form of a new or existing link: what most links need, sections that say what is set, and a preview beside. */
export function LinkForm({ draft, onChange, existing, error, pending, submit, label, back }: Props) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error === null || error === undefined) return;
    // The field may be far up: scroll to it.
    const place = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]');
    place?.focus();
    place?.scrollIntoView({ block: 'center' });
  }, [error]);
  const wrong = useWrong(error, draft, existing);
  const fields: FormFields = {
    draft,
    set: (field, value) => onChange({ ...draft, [field]: value }),
    fill: (part) => onChange({ ...draft, ...part }),
    wrong,
    existing,
  };
  const elsewhere = messageElsewhere(error, (path) => isOnPage(path, draft, existing));
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        if (pending) return;
        // Enter submits before the field loses the focus, which would clean its text.
        onChange({ ...draft, destination_url: cleanAddress(draft.destination_url) });
        submit();
      }}
    >
      <div className="form-beside">
        <Stack gap="lg" miw={0}>
          {elsewhere !== null && (
            <Alert
              role="alert"
              tabIndex={-1}
              color="red"
              variant="outline"
              icon={<IconAlertTriangle />}
              title="Not saved"
            >
              {elsewhere}
            </Alert>
          )}
          <BasicFields {...fields} />
          <div>
            {SECTIONS.map(({ title, hint, paths, words, Fields }) => (
              <FormSection
                key={title}
                title={title}
                hint={hint}
                set={words(draft, existing)}
                isWrong={pathsOf(error).some((path) => paths.test(path))}
              >
                <Fields {...fields} />
              </FormSection>
            ))}
          </div>
        </Stack>
        <LinkPreview draft={draft} />
      </div>
      <Group justify="flex-end" className="form-actions" mt="lg">
        <Button variant="default" component={Link} href={back}>
          Cancel
        </Button>
        <Button type="submit" loading={pending}>
          {label}
        </Button>
      </Group>
    </form>
  );
}

/** The form while its link loads. */
export const FormSkeleton = () => (
  <div className="form-beside">
    <BlocksSkeleton heights={[60, 60, 60, 60, ...SECTIONS.map(() => 44)]} />
    <BlocksSkeleton heights={[420]} />
  </div>
);

/** Returns what a failure says about fields that have not changed since. */
export function useWrong(
  error: unknown,
  draft: LinkDraft,
  existing: FormFields['existing'],
): FormFields['wrong'] {
  const isChanged = useChangedSince(error, draft);
  return (path) =>
    path in draft && isChanged(path as keyof LinkDraft) ? null : wrongWith(error, path, existing);
}

/** The fields that an error names. */
function pathsOf(error: unknown): string[] {
  if (error instanceof DraftProblem) return [error.path];
  return error instanceof ApiFailure ? error.details.map(({ path }) => path) : [];
}

/** What a failure says of the field at `path`, or null. */
function wrongWith(error: unknown, path: string, existing: FormFields['existing']): string | null {
  if (error instanceof DraftProblem) return error.path === path ? error.message : null;
  const own = fieldDetail(error, path);
  // Only a new link can become external.
  if (own?.code === 'external_destination' && !existing)
    return `${own.message}, unless “${ELSEWHERE}” is ticked`;
  if (own !== null || !(error instanceof ApiFailure)) return own?.message ?? null;
  // `tags.3` is an error of the tags field.
  return error.details.find((detail) => detail.path.startsWith(`${path}.`))?.message ?? null;
}

/** The part of a failure that no field shows, or null. */
function messageElsewhere(error: unknown, isShown: (path: string) => boolean): string | null {
  if (error === null || error === undefined || error instanceof DraftProblem) return null;
  if (!(error instanceof ApiFailure) || error.details.length === 0) return sentenceOf(error);
  const hidden = error.details.filter(({ path }) => !isShown(path));
  return hidden.length === 0 ? null : hidden.map(({ path, message }) => `${path}: ${message}`).join('; ');
}
