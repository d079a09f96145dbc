import { Button, Checkbox, Stack, Textarea, TextInput } from '@mantine/core';
import { fieldError } from '../../api/failures.ts';
import { useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { Fact, Facts } from '../../parts/facts.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Section } from '../../parts/section.tsx';
import { BlocksSkeleton, FactsSkeleton } from '../../parts/skeletons.tsx';
import { useEdits } from '../../parts/use-edits.ts';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
import { IdentitySecret } from './identity-secret.tsx';
import {
  bodyOf,
  draftOf,
  effectsOf,
  FIELD_NAMES,
  originsError,
  originsIn,
  shownValues,
} from './publishable-draft.ts';
import { SaveChanges } from './save-changes.tsx';

type Settings = ResponseOf<'/workspace'>;

/** Heights of the fields, the button, and the secret below it. Pixels. */
const FORM_HEIGHTS = [104, 44, 82, 36, 62];

/** Which pages may use a publishable key, and what they may report of a user. Members who are no owners read it. */
export function PublishableKeys() {
  const { can } = useSession();
  const settings = useApi<Settings>('/workspace');
  return (
    <Section
      title="Publishable keys"
      about={
        can('owner')
          ? 'A publishable key is in every page, where anyone can copy it. These settings limit what it can do.'
          : 'An owner of the workspace can change these settings.'
      }
    >
      <QueryView
        query={settings}
        skeleton={can('owner') ? <BlocksSkeleton heights={FORM_HEIGHTS} /> : <FactsSkeleton count={3} />}
      >
        {(data) =>
          can('owner') ? (
            <Stack gap="lg">
              <SettingsForm settings={data} />
              <IdentitySecret isSet={data.identity_secret_set} />
            </Stack>
          ) : (
            <Facts>
              {shownValues(data).map(({ name, values }) => (
                <Fact key={name} name={name}>
                  {values.map((value) => (
                    <div key={value}>{value}</div>
                  ))}
                </Fact>
              ))}
            </Facts>
          )
        }
      </QueryView>
    </Section>
  );
}

function SettingsForm({ settings }: { settings: Settings }) {
  const before = draftOf(settings);
  const { draft, change, discard, saved } = useEdits(before);
  const effects = effectsOf(before, draft, settings.primary_domain);
  const save = useSend<Record<string, unknown>>((body) => ({ path: '/workspace', method: 'PATCH', body }), {
    refresh: ['/workspace'],
    done: 'Settings saved',
    tellFailure: false,
  });
  const isRequired = draft.identity_verification === 'required';
  const wrongDays = fieldError(save.error, 'payout_hold_days');
  const wrongOrigins = originsError(save.error, save.variables);
  const isOfField = wrongDays !== null || wrongOrigins !== null;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (effects.length > 0) save.mutate(bodyOf(before, draft), { onSuccess: () => saved(draft) });
      }}
    >
      <LeaveGuard active={effects.length > 0}>Your changes are not saved.</LeaveGuard>
      <Stack gap="sm">
        <Textarea
          maw={480}
          label={FIELD_NAMES.allowed_origins}
          description="Only pages of these may use a key or show the embed. One per line. Empty: any page."
          placeholder="https://shop.example"
          autosize
          minRows={2}
          maxRows={10}
          spellCheck={false}
          autoCapitalize="none"
          value={draft.allowed_origins}
          error={wrongOrigins}
          onChange={(event) => change({ allowed_origins: event.currentTarget.value })}
          onBlur={() => change({ allowed_origins: originsIn(draft.allowed_origins).join('\n') })}
        />
        <Checkbox
          label="Require signed users"
          description={
            settings.identity_secret_set
              ? 'A call with a publishable key that names a user needs its HMAC (user_hash). Others are refused.'
              : 'Create the identity secret first.'
          }
          disabled={!settings.identity_secret_set && !isRequired}
          checked={isRequired}
          onChange={(event) =>
            change({ identity_verification: event.currentTarget.checked ? 'required' : 'off' })
          }
        />
        <TextInput
          maw={480}
          label={FIELD_NAMES.payout_hold_days}
          description="Only for changes by a page without a valid user_hash."
          inputMode="numeric"
          value={draft.payout_hold_days}
          error={wrongDays && sentence(`${FIELD_NAMES.payout_hold_days} ${wrongDays}`)}
          onChange={(event) => change({ payout_hold_days: event.currentTarget.value })}
        />
        <SaveChanges
          effects={effects}
          failure={save.isError && !isOfField ? sentenceOf(save.error) : null}
          discard={() => {
            discard();
            save.reset();
          }}
        >
          <Button type="submit" disabled={effects.length === 0} loading={save.isPending}>
            Save
          </Button>
        </SaveChanges>
      </Stack>
    </form>
  );
}
