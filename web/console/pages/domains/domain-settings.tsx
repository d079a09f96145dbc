import { Checkbox, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { fieldError } from '../../api/failures.ts';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { AddressField } from '../../parts/address-field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { FormSection } from '../../parts/form-section.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { backBody, changeBody, type DomainDraft, draftOf, jsonProblem } from './domain-draft.ts';
import { DOMAIN_READS, type Domain, type Domains } from './responses.ts';

/** One page has all domains of a workspace. */
const MOST_DOMAINS = 100;

const ADDRESSES = [
  ['root_url', 'Root address', (domain: string) => `Where ${domain} itself leads.`],
  ['not_found_url', 'Not found address', () => 'Where unknown slugs lead. Without it: a page that says so.'],
  [
    'expired_url',
    'Expired address',
    () => 'Where expired and used-up links lead that have no address of their own.',
  ],
] as const;

const FILES = [
  ['apple_app_site_association', 'apple-app-site-association', 'For iPhones: which app opens which links.'],
  ['assetlinks', 'assetlinks.json', 'For Android: which app opens the links.'],
] as const;

/** Edits the default, the addresses and the app files of a domain. */
export function DomainSettings({ domain, close }: { domain: Domain; close: () => void }) {
  const { before, draft, change, isDirty } = useDraft<DomainDraft>(() => draftOf(domain));
  const [isSent, setSent] = useState(false);
  const { urls } = useSession();
  const domains = useApi<Domains>('/domains', { limit: MOST_DOMAINS });
  const former = domains.data?.domains.find(({ is_default }) => is_default);
  const changeOf = ({ id }: Domain, body: object) =>
    ({ path: `/domains/${id}`, method: 'PATCH', body }) as const;
  const save = useSend<object, Domain>((body) => changeOf(domain, body), {
    refresh: DOMAIN_READS,
    done: ({ is_default }, sent) => {
      const host = is_default ? domain.domain : new URL(urls.short_url).host;
      return `${domain.domain} saved.${'is_default' in sent ? ` New links are made on ${host} by default.` : ''}`;
    },
    // Restores the former default first: otherwise a link created in between would get another domain.
    undo: ({ is_default }, sent) => [
      ...(former && is_default && 'is_default' in sent ? [changeOf(former, { is_default: true })] : []),
      changeOf(domain, backBody(sent, before)),
    ],
    tellFailure: false,
  });
  const set = (part: Partial<DomainDraft>) => {
    setSent(false);
    change(part);
  };
  const wrong = (field: keyof DomainDraft): string | null => {
    const local = field === 'apple_app_site_association' || field === 'assetlinks';
    return (local && isSent ? jsonProblem(draft[field]) : null) ?? fieldError(save.error, field);
  };
  const submit = () => {
    setSent(true);
    if (FILES.some(([field]) => jsonProblem(draft[field]) !== null)) return;
    const body = changeBody(before, draft);
    if (Object.keys(body).length === 0) close();
    else save.mutate(body, { onSuccess: close });
  };
  const files = FILES.filter(([field]) => draft[field].trim() !== '').map(([, name]) => name);
  return (
    <FormDialog
      title={`Settings of ${domain.domain}`}
      close={close}
      isLong
      isDirty={isDirty && !save.isSuccess}
      send={save}
      submit={submit}
      label="Save"
      failed="Not saved"
      fields={Object.keys(before)}
      isWrong={isSent}
    >
      <Checkbox
        label="Default domain"
        description={
          domain.status === 'pending'
            ? 'Once the domain is verified, new links can be made on it by default.'
            : 'New links that name no domain are made on it, referral links and links of bio buttons too.'
        }
        disabled={domain.status === 'pending'}
        checked={draft.is_default}
        onChange={(event) => set({ is_default: event.currentTarget.checked })}
      />
      {ADDRESSES.map(([field, label, about]) => (
        <AddressField
          key={field}
          label={label}
          description={about(domain.domain)}
          value={draft[field]}
          error={wrong(field)}
          onChange={(value) => set({ [field]: value })}
        />
      ))}
      <FormSection
        title="App files"
        hint="Open links in your app"
        set={files.length === 0 ? null : files.join(', ')}
        isWrong={FILES.some(([field]) => wrong(field) !== null)}
      >
        <Stack gap="md">
          {FILES.map(([field, name, about]) => (
            <Textarea
              key={field}
              label={name}
              description={`${about} JSON, served below https://${domain.domain}/.well-known/.`}
              autosize
              minRows={4}
              maxRows={14}
              spellCheck={false}
              styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
              value={draft[field]}
              error={wrong(field)}
              onChange={(event) => set({ [field]: event.currentTarget.value })}
            />
          ))}
        </Stack>
      </FormSection>
    </FormDialog>
  );
}
