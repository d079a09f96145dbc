import {
  Anchor,
  Autocomplete,
  NativeSelect,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useState } from 'react';
import { CHANNELS } from '../../../../../core/enrich/channels.ts';
import { countriesIn } from '../../../../../core/enrich/continents.ts';
import { RULE_DEVICES, RULE_SYSTEMS, RULE_VISITORS } from '../../../../../core/links/rules/types.ts';
import { channelName, countryName, formatPercent } from '../../../formats.ts';
import { DEVICES } from '../form/devices.tsx';
import type { LinkDraft } from '../form/link-draft.ts';
import { conditionValueName, ruleWords } from './condition-words.ts';
import { decideDraft, type Tried, type TriedVisitor } from './decide-draft.ts';

const FIRST: TriedVisitor = {
  country: '',
  region: '',
  language: '',
  device: 'mobile',
  os: 'ios',
  browser: '',
  channel: '',
  visitor: 'new',
  query: '',
  at: '',
};

const COUNTRIES = () => [
  { value: '', label: 'Unknown' },
  ...countriesIn()
    .map((value) => ({ value, label: countryName(value) }))
    .sort((one, other) => one.label.localeCompare(other.label)),
];

/** Chooses a visitor, and shows which part of the form decides for them, and where it leads. */
export function TryIt({ draft }: { draft: LinkDraft }) {
  const [visitor, setVisitor] = useState(FIRST);
  const [countries] = useState(COUNTRIES);
  const set = (fields: Partial<TriedVisitor>) => setVisitor({ ...visitor, ...fields });
  const [linkChannel] = draft.channels;
  const channel = linkChannel ?? visitor.channel;
  const tried = decideDraft(draft, { ...visitor, channel }, draft.split.winner);
  return (
    <Paper withBorder p="sm" component="section" aria-label="Try it">
      <Title order={2} size="h5">
        Try it
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Choose a visitor to see where the link leads, before you save.
      </Text>
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="xs" mb="sm">
        <NativeSelect
          label="Country"
          data={countries}
          value={visitor.country}
          onChange={(event) => set({ country: event.currentTarget.value, region: '' })}
        />
        <TextInput
          label="Region"
          placeholder="DE-BE"
          spellCheck={false}
          value={visitor.region}
          onChange={(event) => set({ region: event.currentTarget.value })}
        />
        <TextInput
          label="Language"
          placeholder="de-AT"
          spellCheck={false}
          value={visitor.language}
          onChange={(event) => set({ language: event.currentTarget.value })}
        />
        <NativeSelect
          label="Device"
          data={RULE_DEVICES.map((value) => ({ value, label: conditionValueName('device', value) }))}
          value={visitor.device}
          onChange={({ currentTarget: { value } }) => {
            const device = RULE_DEVICES.find((known) => known === value);
            if (device) set({ device });
          }}
        />
        <NativeSelect
          label="System"
          data={RULE_SYSTEMS.map((value) => ({ value, label: conditionValueName('os', value) }))}
          value={visitor.os}
          onChange={({ currentTarget: { value } }) => {
            const os = RULE_SYSTEMS.find((known) => known === value);
            if (os) set({ os });
          }}
        />
        <Autocomplete
          label="Browser"
          placeholder="Mobile Safari"
          data={['Chrome', 'Edge', 'Firefox', 'Mobile Safari', 'Safari']}
          value={visitor.browser}
          onChange={(browser) => set({ browser })}
        />
        {linkChannel === undefined && (
          <NativeSelect
            label="Channel"
            data={[
              { value: '', label: 'Unknown' },
              ...CHANNELS.map((value) => ({ value, label: channelName(value) })),
            ]}
            value={visitor.channel}
            onChange={(event) => set({ channel: event.currentTarget.value })}
          />
        )}
        <NativeSelect
          label="Visitor"
          data={[...RULE_VISITORS]}
          value={visitor.visitor}
          onChange={(event) => set({ visitor: event.currentTarget.value === 'new' ? 'new' : 'returning' })}
        />
        <TextInput
          label="Query"
          placeholder="plan=pro"
          spellCheck={false}
          value={visitor.query}
          onChange={(event) => set({ query: event.currentTarget.value })}
        />
        <TextInput
          label="At"
          type="datetime-local"
          value={visitor.at}
          onChange={(event) => set({ at: event.currentTarget.value })}
        />
      </SimpleGrid>
      <div role="status" aria-label="Result" className="rule-result">
        <Outcome tried={tried} draft={draft} />
      </div>
    </Paper>
  );
}

function Outcome({ tried, draft }: { tried: Tried; draft: LinkDraft }) {
  switch (tried.by) {
    case 'nothing':
      return <Text size="sm">{tried.why}</Text>;
    case 'rule': {
      const rule = draft.rules[tried.index];
      const name = rule && (rule.name || ruleWords(rule));
      return <Led by={`Rule ${tried.index + 1} decides: ${name}`} to={tried.url} />;
    }
    case 'targeting': {
      const [, name] = DEVICES.find(([field]) => field === tried.target) ?? [];
      return <Led by={`No rule holds. The destination for ${name ?? tried.target} decides`} to={tried.url} />;
    }
    case 'split':
      return (
        <Stack gap={4}>
          <Text size="sm" fw={600}>
            No rule and no device decides: the split does
          </Text>
          {tried.shares.map(({ id, url, share }) => (
            <Text size="sm" key={id} className="rule-leads">
              {formatPercent(share)} → <Address url={url} />
            </Text>
          ))}
        </Stack>
      );
    default:
      return <Led by="Nothing else decides: the link's own destination" to={tried.url} />;
  }
}

function Led({ by, to }: { by: string; to: string }) {
  return (
    <>
      <Text size="sm" fw={600}>
        {by}
      </Text>
      <Text size="sm" className="rule-leads">
        → <Address url={to} />
      </Text>
    </>
  );
}

function Address({ url }: { url: string }) {
  if (url.trim() === '') return 'no destination yet';
  return /^https?:\/\//i.test(url) ? (
    <Anchor href={url} target="_blank" rel="noreferrer" size="sm">
      {url}
    </Anchor>
  ) : (
    url
  );
}
