import { Button, NativeSelect, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { fieldError } from '../../api/failures.ts';
import { useApi, useSend } from '../../api/queries.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';
import { SESSION_QUERY, useSession } from '../../api/session.ts';
import { viewerTimeZone } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { LANGUAGE_CHOICES } from '../../parts/language-choices.ts';
import { SmallNote } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Section } from '../../parts/section.tsx';
import { BlocksSkeleton, FactsSkeleton, FieldsSkeleton } from '../../parts/skeletons.tsx';
import { useEdits } from '../../parts/use-edits.ts';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
import { SaveChanges } from './save-changes.tsx';
import {
  bodyOf,
  CHECK_NAMES,
  changedIn,
  type Draft,
  deletesClicks,
  draftOf,
  EFFECTS,
  FIELD_NAMES,
  MODEL_NAMES,
  PROBLEM_MAIL_NAMES,
  type Settings,
  shownValues,
  TRACKING_NAMES,
} from './workspace-draft.ts';

/** How the workspace counts: each setting, and what a change does to figures. Members who are no owners read them. */
export function WorkspaceSettings() {
  const { can } = useSession();
  const settings = useApi<Settings>('/workspace');
  return (
    <Section
      title="Figures and tracking"
      about={
        can('owner')
          ? 'What a change does to figures is shown before you save it.'
          : 'An owner of the workspace can change these settings.'
      }
    >
      <QueryView query={settings} skeleton={can('owner') ? <FormSkeleton /> : <FactsSkeleton count={11} />}>
        {(data) =>
          can('owner') ? (
            <SettingsForm settings={data} />
          ) : (
            <Facts>
              {shownValues(data).map(({ name, value }) => (
                <Fact key={name} name={name}>
                  {value}
                </Fact>
              ))}
            </Facts>
          )
        }
      </QueryView>
    </Section>
  );
}

/** The fields, the button, and the note below them. */
const FormSkeleton = () => (
  <Stack gap="md">
    <FieldsSkeleton count={11} />
    <BlocksSkeleton heights={[36, 23]} />
  </Stack>
);

function SettingsForm({ settings }: { settings: Settings }) {
  const queries = useQueryClient();
  const before = draftOf(settings);
  const { draft, change, discard, saved } = useEdits(before);
  const changed = changedIn(before, draft);
  const save = useSend<Record<string, unknown>>((body) => ({ path: '/workspace', method: 'PATCH', body }), {
    refresh: ['/workspace', '/me'],
    done: 'Settings saved',
    tellFailure: false,
  });
  const errorOf = (field: keyof Draft) => {
    const text = fieldError(save.error, field);
    return text && sentence(`${FIELD_NAMES[field]} ${text}`);
  };
  const send = () =>
    save.mutateAsync(bodyOf(before, draft)).then(() => {
      saved(draft);
      return queries.invalidateQueries({ queryKey: SESSION_QUERY.queryKey });
    });
  const zones = [
    ...new Set([...(draft.time_zone === '' ? [] : [draft.time_zone]), ...Intl.supportedValuesOf('timeZone')]),
  ];
  const isOfField = changed.some((field) => fieldError(save.error, field) !== null);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (changed.length > 0 && !deletesClicks(before, draft)) send().catch(() => undefined);
      }}
    >
      <LeaveGuard active={changed.length > 0}>Your changes are not saved.</LeaveGuard>
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
          <TextInput
            label="Name"
            description="Shown in the console and on its invitations."
            maxLength={100}
            value={draft.name}
            error={errorOf('name')}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <TextInput
            label="Own site"
            description="Links to another domain are marked external."
            placeholder="Set by the first link"
            maxLength={253}
            autoCapitalize="none"
            spellCheck={false}
            value={draft.primary_domain}
            error={errorOf('primary_domain')}
            onChange={(event) => change({ primary_domain: event.currentTarget.value })}
          />
          <NativeSelect
            label="Attribution model"
            description="Which clicks an order belongs to."
            data={Object.entries(MODEL_NAMES).map(([value, label]) => ({ value, label }))}
            value={draft.attribution_model}
            onChange={(event) => change({ attribution_model: event.currentTarget.value })}
          />
          <TextInput
            label="Attribution window, in days"
            description="How long before an order a click counts: 1 to 365."
            inputMode="numeric"
            value={draft.attribution_window}
            error={errorOf('attribution_window')}
            onChange={(event) => change({ attribution_window: event.currentTarget.value })}
          />
          <NativeSelect
            label="Time zone"
            description="Days, weeks, and months of reports begin in it."
            data={[{ value: '', label: `Each viewer's own (yours: ${viewerTimeZone()})` }, ...zones]}
            value={draft.time_zone}
            onChange={(event) => change({ time_zone: event.currentTarget.value })}
          />
          <TextInput
            label="Currency"
            description="Of revenue in reports. Fixed after the first order."
            maxLength={3}
            value={draft.currency}
            error={errorOf('currency')}
            onChange={(event) => change({ currency: event.currentTarget.value.toUpperCase() })}
          />
          <NativeSelect
            label="Tracking"
            description="How visitors are told apart."
            data={Object.entries(TRACKING_NAMES).map(([value, label]) => ({ value, label }))}
            value={draft.tracking}
            onChange={(event) => change({ tracking: event.currentTarget.value })}
          />
          <NativeSelect
            label={FIELD_NAMES.language}
            description="Of unknown and expired links, passwords, bio pages, and mail."
            data={[{ value: '', label: 'Each visitor’s own' }, ...LANGUAGE_CHOICES]}
            value={draft.language}
            error={errorOf('language')}
            onChange={(event) => change({ language: event.currentTarget.value })}
          />
          <NativeSelect
            label={FIELD_NAMES.problem_mails}
            description="When something fails, and when it works again."
            data={Object.entries(PROBLEM_MAIL_NAMES).map(([value, label]) => ({ value, label }))}
            value={draft.problem_mails}
            onChange={(event) => change({ problem_mails: event.currentTarget.value })}
          />
          <NativeSelect
            label={FIELD_NAMES.check_destinations}
            description="Finds destinations that respond with an error."
            data={Object.entries(CHECK_NAMES).map(([value, label]) => ({ value, label }))}
            value={draft.check_destinations}
            onChange={(event) => change({ check_destinations: event.currentTarget.value })}
          />
          <TextInput
            label="Months that clicks are kept"
            description="1 to 120; empty: forever. Older clicks are deleted."
            inputMode="numeric"
            placeholder="Forever"
            value={draft.retention_months}
            error={errorOf('retention_months')}
            onChange={(event) => change({ retention_months: event.currentTarget.value })}
          />
        </SimpleGrid>
        <SaveChanges
          effects={changed.map((field) => EFFECTS[field](draft, before))}
          failure={save.isError && !isOfField ? sentenceOf(save.error) : null}
          discard={() => {
            discard();
            save.reset();
          }}
        >
          {deletesClicks(before, draft) ? (
            <ConfirmButton
              question="Delete older clicks?"
              consequence={EFFECTS.retention_months(draft, before)}
              yes="Save and delete"
              pending={save.isPending}
              onConfirm={send}
            >
              Save
            </ConfirmButton>
          ) : (
            <Button type="submit" disabled={changed.length === 0} loading={save.isPending}>
              Save
            </Button>
          )}
        </SaveChanges>
        <SmallNote>
          Link parameters, such as ref and via, belong to each referral program. The domain of new links is
          chosen on the Domains page.
        </SmallNote>
      </Stack>
    </form>
  );
}
