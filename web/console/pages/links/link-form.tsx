import { Alert, Button, Group, Stack } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { ApiFailure, fieldDetail } from '../../api/failures.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { DraftProblem, type LinkDraft } from './link-draft.ts';
import { BasicFields, ELSEWHERE } from './link-form-basics.tsx';
import { LimitFields, MoreFields, PixelFields, TargetFields } from './link-form-extras.tsx';

/** Props of a form's fields. */
export type FormFields = {
  draft: LinkDraft;
  set: <Field extends keyof LinkDraft>(field: Field, value: LinkDraft[Field]) => void;
  /** The error of the field that the API calls `path`, or null. */
  wrong: (path: string) => string | null;
  /** The existing link; null for a new one. */
  existing: { password_protected: boolean } | null;
};

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
  /** Content below the first heading. */
  children?: ReactNode;
};

/** Fields that every form shows. */
const FIELDS =
  /^(destination_url|name|slug|utm_campaign|tags(\.\d+)?|folder_id|targeting\.(ios|android|mobile|desktop)|expires_at|max_clicks|expired_redirect_url|password|retargeting\.\w+|metadata)$/;

/** Whether the form shows the field at `path`; errors of other fields show above the form. */
function isOnPage(path: string, { kind }: LinkDraft, existing: FormFields['existing']): boolean {
  if (FIELDS.test(path)) return true;
  if (path === 'external_id') return kind !== 'several';
  if (existing !== null) return false;
  if (/^channels(\.\d+)?$/.test(path)) return kind === 'several';
  return path === 'external' || (path === 'channel' && kind !== 'smart');
}

/** The form of a new or existing link, with the API's errors at their fields. */
export function LinkForm({
  draft,
  onChange,
  existing,
  error,
  pending,
  submit,
  label,
  back,
  children,
}: Props) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error === null || error === undefined) return;
    // The field may be far up: scroll to it.
    const place = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]');
    place?.focus();
    place?.scrollIntoView({ block: 'center' });
  }, [error]);
  const fields: FormFields = {
    draft,
    set: (field, value) => onChange({ ...draft, [field]: value }),
    wrong: (path) => wrongWith(error, path, existing),
    existing,
  };
  const elsewhere = messageElsewhere(error, (path) => isOnPage(path, draft, existing));
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        if (!pending) submit();
      }}
    >
      <Stack maw={720} gap="lg">
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
        {children}
        <BasicFields {...fields} />
        <TargetFields {...fields} />
        <LimitFields {...fields} />
        <PixelFields {...fields} />
        <MoreFields {...fields} />
        <Group justify="flex-end">
          <Button variant="default" component={Link} href={back}>
            Cancel
          </Button>
          <Button type="submit" loading={pending}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

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
