import { Flex, NativeSelect, TextInput } from '@mantine/core';
import { useSession } from '../../../api/session.ts';
import type { FormFields } from './fields.ts';
import { OWN_HOST } from './own-host.ts';
import { useLinkDomains } from './use-link-domains.ts';

/** The domain of a link, where the workspace has any, and its slug. */
export function SlugField({ draft, set, wrong, existing }: FormFields) {
  const { urls } = useSession();
  const { hosts, hostOf } = useLinkDomains();
  const own = new URL(urls.short_url).host;
  const hasDomains = hosts.length > 0 || draft.domain !== '';
  // The input keeps its place in the tree: if it moved when the domains arrive, it would lose the focus.
  return (
    <Flex gap="sm" direction={{ base: 'column', xs: 'row' }}>
      {hasDomains && (
        <NativeSelect
          label="Domain"
          description={existing ? 'The old address redirects too.' : 'Where the short link is.'}
          w={{ base: '100%', xs: '45%' }}
          data={[
            ...new Set([
              ...hosts,
              ...(draft.domain === '' || draft.domain === OWN_HOST ? [] : [draft.domain]),
            ]),
          ]
            .map((host) => ({ value: host, label: host }))
            .concat({ value: OWN_HOST, label: own })}
          value={hostOf(draft.domain) ?? OWN_HOST}
          error={wrong('domain')}
          onChange={(event) => set('domain', event.currentTarget.value)}
        />
      )}
      <TextInput
        label="Slug"
        flex={1}
        miw={0}
        placeholder={existing ? '' : 'Generated if empty'}
        required={existing !== null}
        maxLength={64}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        value={draft.slug}
        error={wrong('slug')}
        description={
          existing
            ? 'The old slug stops redirecting, and stays reserved.'
            : draft.channels.length > 1
              ? 'The channel is appended for each link.'
              : `The part after ${hostOf(draft.domain) ?? own}/`
        }
        onChange={(event) => set('slug', event.currentTarget.value)}
      />
    </Flex>
  );
}
