import { Radio, Stack, Text } from '@mantine/core';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { plural } from '../../formats.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { DOMAIN_READS, type Domain, type Domains } from './responses.ts';

type Props = { domain: Domain; links: number | null; close: () => void };

/** Asks before a domain is deleted, and what becomes of its links. */
export function DeleteDomain({ domain, links, close }: Props) {
  const { urls } = useSession();
  const { draft, choice } = useDraft({ fate: 'move' });
  const domains = useApi<Domains>('/domains', { limit: 100 });
  const standard = domains.data?.domains.find(({ id, is_default }) => is_default && id !== domain.id);
  const target = standard?.domain ?? new URL(urls.short_url).host;
  const hasLinks = links !== 0;
  const remove = useSend<void>(
    () => ({
      path: `/domains/${domain.id}`,
      method: 'DELETE',
      query: hasLinks ? { links: draft.fate } : {},
    }),
    { refresh: DOMAIN_READS, done: `${domain.domain} was deleted`, tellFailure: false },
  );
  return (
    <FormDialog
      title={`Delete ${domain.domain}?`}
      close={close}
      send={remove}
      submit={() => remove.mutate(undefined, { onSuccess: close })}
      label="Delete"
      isDanger
      failed="Not deleted"
    >
      <Text size="sm">
        {domain.status === 'pending'
          ? 'Its TXT record is not needed any more.'
          : 'Its addresses stop redirecting at once, printed ones too.'}
      </Text>
      {hasLinks && (
        <Radio.Group
          label={links === null ? 'Its links' : plural(links, 'link is on it', 'links are on it')}
          {...choice('fate')}
        >
          <Stack gap="xs" mt="xs">
            <Radio
              value="move"
              label={`Move to ${target}`}
              description="They keep their slugs and figures. Refused if a slug is taken there."
            />
            <Radio
              value="delete"
              label="Delete the links too"
              description="Their clicks stay in the statistics of the workspace."
            />
          </Stack>
        </Radio.Group>
      )}
    </FormDialog>
  );
}
