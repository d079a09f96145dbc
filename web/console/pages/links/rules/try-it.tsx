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
import { type ValueType, valueKind } from '../../../../../core/links/rules/conditions.ts';
import { formatPercent } from '../../../formats.ts';
import { Note } from '../../../parts/note.tsx';
import { DEVICES } from '../form/devices.tsx';
import type { LinkDraft } from '../form/link-draft.ts';
import { choicesOf } from './condition-values.tsx';
import { ruleWords } from './condition-words.ts';
import { decideDraft, NEW_VISITOR, TRIED, type Tried, type TriedVisitor } from './decide-draft.ts';

/** Chooses a visitor, and shows which part of the form decides for them, and where it leads. */
export function TryIt({ draft }: { draft: LinkDraft }) {
  const [visitor, setVisitor] = useState(NEW_VISITOR);
  const set = (fields: Partial<TriedVisitor>) => setVisitor({ ...visitor, ...fields });
  const [linkChannel] = draft.channels;
  const channel = linkChannel ?? visitor.channel;
  const tried = decideDraft(draft, { ...visitor, channel }, draft.split.winner);
  return (
    <Paper withBorder p="sm" component="section" aria-label="Try it">
      <Title order={2} size="h5">
        Try it
      </Title>
      <Note mb="sm">Choose a visitor to see where the link leads, before you save.</Note>
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="xs" mb="sm">
        {TRIED.filter((type) => type !== 'channel' || linkChannel === undefined).map((type) => (
          <TriedValue
            key={type}
            type={type}
            value={visitor[type]}
            onChange={(value) => set({ [type]: value, ...(type === 'country' && { region: '' }) })}
          />
        ))}
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

/** A value of the visitor: one of all there are, or typed. */
function TriedValue({
  type,
  value,
  onChange,
}: {
  type: ValueType;
  value: string;
  onChange: (value: string) => void;
}) {
  const { label, known, suggested = [], example } = valueKind(type);
  if (known === undefined) {
    return (
      <Autocomplete
        label={label}
        placeholder={example}
        spellCheck={false}
        data={suggested}
        value={value}
        onChange={onChange}
      />
    );
  }
  const canBeUnknown = NEW_VISITOR[type] === '';
  return (
    <NativeSelect
      label={label}
      data={[...(canBeUnknown ? [{ value: '', label: 'Unknown' }] : []), ...choicesOf(type)]}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
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
