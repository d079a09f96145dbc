import { NativeSelect, Select, Stack } from '@mantine/core';
import { CREATABLE_CHANNELS } from '../../../../../core/enrich/channels.ts';
import type { UnprovenPolicy } from '../../../../../core/link-imports/create-row.ts';
import { useSession } from '../../../api/session.ts';
import { channelName } from '../../../formats.ts';
import { OWN_HOST } from '../form/own-host.ts';
import { useLinkDomains } from '../form/use-link-domains.ts';

/** Defaults of an import, for rows that leave these fields out. */
export type ImportOptions = {
  channel: string;
  /** As in a link's draft: empty for the workspace's default. */
  domain: string;
  unproven: UnprovenPolicy;
};

export const USUAL: ImportOptions = { channel: 'other', domain: '', unproven: 'refuse' };

const CHANNELS = [
  ...CREATABLE_CHANNELS.map((key) => ({ value: key as string, label: channelName(key) })),
  { value: 'smart', label: 'Any: found by each click' },
];

const UNPROVEN: { value: UnprovenPolicy; label: string }[] = [
  { value: 'refuse', label: 'Refuse the row' },
  { value: 'keep', label: 'Keep it until the domain is verified' },
  { value: 'move', label: 'Make the link on the domain above' },
];

/** The fields of {@link ImportOptions}. */
export function ImportOptionFields({
  options,
  disabled,
  onChange,
}: {
  options: ImportOptions;
  disabled: boolean;
  onChange: (options: ImportOptions) => void;
}) {
  const { urls } = useSession();
  const { hosts, hostOf } = useLinkDomains();
  const own = new URL(urls.short_url).host;
  return (
    <Stack gap="md">
      <Select
        label="Default channel"
        data={CHANNELS}
        value={options.channel}
        onChange={(value) => onChange({ ...options, channel: value ?? 'other' })}
        allowDeselect={false}
        searchable
        disabled={disabled}
      />
      <NativeSelect
        label="Domain of rows that name none"
        data={[...hosts.map((host) => ({ value: host, label: host })), { value: OWN_HOST, label: own }]}
        value={hostOf(options.domain) ?? OWN_HOST}
        onChange={(event) => onChange({ ...options, domain: event.currentTarget.value })}
        disabled={disabled}
      />
      <NativeSelect
        label="If a row names a domain that is not verified here"
        description="For example the one that you still use at the other service."
        data={UNPROVEN}
        value={options.unproven}
        onChange={(event) => {
          const chosen = UNPROVEN.find(({ value }) => value === event.currentTarget.value);
          if (chosen) onChange({ ...options, unproven: chosen.value });
        }}
        disabled={disabled}
      />
    </Stack>
  );
}

/** Returns the fields of an import's request. */
export function optionsBody({ channel, domain, unproven }: ImportOptions) {
  return {
    channel,
    unproven,
    ...(domain !== '' && { domain: domain === OWN_HOST ? null : domain }),
  };
}
