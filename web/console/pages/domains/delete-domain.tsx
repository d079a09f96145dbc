import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { plural } from '../../formats.ts';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { DOMAIN_READS, type Domain, type Domains } from './responses.ts';

type Props = { domain: Domain; links: number | null; close: () => void };

/** Asks before a domain is deleted, and what becomes of its links. */
export function DeleteDomain({ domain, links, close }: Props) {
  useFocusBack();
  const { urls } = useSession();
  const [fate, setFate] = useState<'move' | 'delete'>('move');
  const domains = useApi<Domains>('/domains', { limit: 100 });
  const standard = domains.data?.domains.find(({ id, is_default }) => is_default && id !== domain.id);
  const target = standard?.domain ?? new URL(urls.short_url).host;
  const hasLinks = links !== 0;
  const remove = useSend<void>(
    () => ({
      path: `/domains/${domain.id}`,
      method: 'DELETE',
      query: hasLinks ? { links: fate } : {},
    }),
    { refresh: DOMAIN_READS, done: `${domain.domain} was deleted`, tellFailure: false },
  );
  return (
    <Modal
      opened
      onClose={close}
      title={`Delete ${domain.domain}?`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="md">
        <Text size="sm">
          {domain.status === 'pending'
            ? 'Its TXT record is not needed any more.'
            : 'Its addresses stop redirecting at once, printed ones too.'}
        </Text>
        {hasLinks && (
          <Radio.Group
            label={links === null ? 'Its links' : plural(links, 'link is on it', 'links are on it')}
            value={fate}
            onChange={(value) => setFate(value === 'delete' ? 'delete' : 'move')}
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
        {remove.isError && (
          <Text size="sm" c="red" role="alert">
            {sentenceOf(remove.error)}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            color="red.8"
            loading={remove.isPending}
            onClick={() => remove.mutate(undefined, { onSuccess: close })}
          >
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
