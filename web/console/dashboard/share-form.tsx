import { Button, Checkbox, Group, NativeSelect, PasswordInput, TextInput } from '@mantine/core';
import { useSend } from '../api/queries.ts';
import { DialogForm } from '../parts/form-dialog.tsx';
import { LinksField } from '../parts/links-field.tsx';
import { useDraft } from '../parts/use-draft.ts';
import { useFirstFocus } from '../parts/use-first-focus.ts';
import { dayOf, instantOfDay } from '../parts/window.ts';
import { SHARED_PATH, type SharedDashboard } from './shared-dashboards.ts';
import { useSource } from './source.ts';

type ScopeType = SharedDashboard['scope']['type'];

const SCOPES: { value: ScopeType; label: string }[] = [
  { value: 'workspace', label: 'All links of the workspace' },
  { value: 'tag', label: 'Links with a tag' },
  { value: 'folder', label: 'Links in a folder' },
  { value: 'links', label: 'Chosen links' },
];

/** Makes a shared dashboard, or changes one. */
export function ShareForm({ dashboard, done }: { dashboard: SharedDashboard | null; done: () => void }) {
  const { zone } = useSource();
  // The dialog is open already, and the button that leads here is gone.
  const first = useFirstFocus<HTMLInputElement>();
  const send = useSend<object>(
    (body) =>
      dashboard
        ? { path: `${SHARED_PATH}/${dashboard.id}`, method: 'PATCH', body }
        : { path: SHARED_PATH, once: true, body },
    { refresh: [SHARED_PATH], done: dashboard ? 'Saved' : 'Dashboard shared', tellFailure: false },
  );
  const { draft, change, text, check } = useDraft(() => draftOf(dashboard), send.error);
  const { name, type, values, password } = draft;
  const hasPassword = draft.keepsPassword || password !== '';
  const bodyOf = () => ({
    name: name.trim(),
    scope: type === 'workspace' ? { type } : { type, values },
    show_revenue: draft.show_revenue,
    show_annotations: draft.show_annotations,
    embed: draft.embed && !hasPassword,
    expires_at: draft.lastDay === '' ? null : instantOfDay(draft.lastDay, zone, 1).toISOString(),
    ...(draft.keepsPassword ? {} : { password: password === '' ? null : password }),
  });
  return (
    <DialogForm
      close={done}
      send={send}
      submit={() => send.mutate(bodyOf(), { onSuccess: done })}
      label={dashboard ? 'Save' : 'Share'}
      cancel="Back"
      failed="Not saved"
      fields={['name', 'password', 'expires_at']}
      isReady={name.trim() !== '' && (type === 'workspace' || values.length > 0)}
    >
      <TextInput ref={first} label="Name" required maxLength={100} {...text('name', 'name', 'Name')} />
      <NativeSelect
        label="What it shows"
        data={SCOPES}
        value={type}
        onChange={(event) => change({ type: event.currentTarget.value as ScopeType, values: [] })}
      />
      {type !== 'workspace' && (
        <LinksField
          key={type}
          type={type}
          values={values}
          choose={(chosen) => change({ values: chosen })}
          required
        />
      )}
      {draft.keepsPassword ? (
        <Group gap="sm">
          <span>It has a password.</span>
          <Button size="xs" variant="default" onClick={() => change({ keepsPassword: false })}>
            Change or remove it
          </Button>
        </Group>
      ) : (
        <PasswordInput
          label="Password"
          description="Optional. Visitors enter it before they see anything."
          autoComplete="new-password"
          minLength={4}
          maxLength={200}
          {...text('password', 'password', 'Password')}
        />
      )}
      <TextInput
        type="date"
        label="Last day"
        description="Optional. The link ends after this day."
        min={dayOf(new Date())}
        {...text('lastDay', 'expires_at', 'Last day')}
      />
      <Checkbox label="Show revenue" {...check('show_revenue')} />
      <Checkbox label="Show annotations" {...check('show_annotations')} />
      <Checkbox
        label="Other sites may show it in a frame"
        description={
          hasPassword
            ? 'Only without a password.'
            : 'For a page of a customer or a wiki. The list then has the tag to paste.'
        }
        {...check('embed')}
        checked={draft.embed && !hasPassword}
        disabled={hasPassword}
      />
    </DialogForm>
  );
}

const draftOf = (dashboard: SharedDashboard | null) => ({
  name: dashboard?.name ?? '',
  type: dashboard?.scope.type ?? ('workspace' as ScopeType),
  values: dashboard?.scope.values ?? [],
  show_revenue: dashboard?.show_revenue ?? false,
  show_annotations: dashboard?.show_annotations ?? false,
  embed: dashboard?.embed ?? false,
  keepsPassword: dashboard?.has_password ?? false,
  password: '',
  /** Included. */
  lastDay: dashboard?.expires_at ? dayOf(new Date(Date.parse(dashboard.expires_at) - 1)) : '',
});
