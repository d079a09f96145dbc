import {
  Alert,
  Anchor,
  Button,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Table,
  Tabs,
  Text,
  TextInput,
} from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { ApiFailure } from '../../api/failures.ts';
import { AddressField } from '../../parts/address-field.tsx';
import { Brand } from '../../parts/brand.tsx';
import { ChannelMark } from '../../parts/channel-mark.tsx';
import { ChoiceChips } from '../../parts/choice-chips.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ColorField } from '../../parts/color-field.tsx';
import { useColumnChoice } from '../../parts/column-choice.ts';
import { ColumnsButton } from '../../parts/columns-button.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { CsvDownload } from '../../parts/csv-download.tsx';
import { Delta } from '../../parts/delta.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { FailureNotice } from '../../parts/failure-notice.tsx';
import { Figure } from '../../parts/figure.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { FormSection } from '../../parts/form-section.tsx';
import { GeoCredit } from '../../parts/geo-credit.tsx';
import { LetterMark } from '../../parts/letter-mark.tsx';
import { Note, SmallNote } from '../../parts/note.tsx';
import { OlderRows } from '../../parts/older-rows.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { PictureField } from '../../parts/picture-field.tsx';
import { LongTextCell, ScrollTable } from '../../parts/scroll-table.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { Section } from '../../parts/section.tsx';
import { SortHeading } from '../../parts/sort-heading.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { TabLine } from '../../parts/tab-line.tsx';
import { TextPress } from '../../parts/text-press.tsx';
import { TrashButton } from '../../parts/trash-button.tsx';
import { VisitorLink } from '../../parts/visitor-link.tsx';
import { WindowPicker } from '../../parts/window-picker.tsx';
import { ChartSample } from './chart-sample.tsx';

const LIMITED = new ApiFailure(503, {
  code: 'unavailable',
  message: 'the service is busy',
  request_id: 'req-7',
});
const VISITOR = '7d0c2f6e-9a51-4c38-8b7e-2f1a90d4c655';

/** Every part of the console with fixed values, for its developers. It reads nothing; the theme is the page's. */
export default function PartsPage() {
  return (
    <>
      <PageHeader title="Parts">
        <Button leftSection={<IconPlus size={18} />}>Primary</Button>
        <Button variant="default">Secondary</Button>
        <Button variant="subtle">Subtle</Button>
      </PageHeader>
      <Stack gap="lg">
        <Part name="brand">
          <div className="brand">
            <Brand />
          </div>
        </Part>
        <Part name="channels">
          <Group gap="sm">
            <ChannelMark channel="youtube" />
            <ChannelMark channel="linkedin" />
            <ChannelMark channel="nostr" />
          </Group>
        </Part>
        <Part name="buttons">
          <Group gap="sm">
            <Button size="xs" variant="default" disabled>
              Disabled
            </Button>
            <Button size="xs" variant="default" loading>
              Loading
            </Button>
            <ConfirmButton
              size="xs"
              question="Delete the link?"
              consequence="It stops redirecting at once."
              yes="Delete"
              onConfirm={async () => undefined}
            >
              Asks first
            </ConfirmButton>
            <CopyButton value="hop" what="the word" />
            <CopyButton value="hop" what="the small word" size="sm" />
            <TrashButton what="the word" remove={{ isPending: false, mutate: () => undefined }} />
            <Anchor href="/console/parts">A link</Anchor>
          </Group>
        </Part>
        <Part name="note">
          <TextPress onClick={() => undefined}>A press that looks like a link</TextPress>
          <SmallNote>A second, smaller line</SmallNote>
          <Note>A sentence that is less important.</Note>
        </Part>
        <Part name="status-badge">
          <Group gap="sm">
            <StatusBadge sign="good">Active</StatusBadge>
            <StatusBadge sign="waiting">Waiting</StatusBadge>
            <StatusBadge sign="paused">Paused</StatusBadge>
            <StatusBadge sign="bad">Failed</StatusBadge>
          </Group>
        </Part>
        <Part name="figure">
          <Group gap="sm" align="stretch">
            <Figure label="Clicks" value="1,204" change={{ now: 1_204, before: 800 }} />
            <Figure label="Visitors" value="986" change={{ now: 986, before: 1_100 }} />
            <Figure label="Revenue" value="US$1,849.50" change={{ now: 1, before: 0 }} note="Of 31 orders" />
          </Group>
        </Part>
        <Part name="delta">
          <Group gap="sm">
            <Delta now={3} before={2} />
            <Delta now={2} before={3} />
            <Delta now={2} before={2} />
            <Delta now={2} before={0} />
          </Group>
        </Part>
        <Part name="sparkline">
          <Group gap="sm">
            <Sparkline values={[1, 4, 2, 8, 5, 9, 3]} label="Sample: at most 9" />
            <Sparkline values={[4, 6, 9, 8, 3]} label="Sample: the last is not over" isOpenEnded />
            <Sparkline values={[0, 0, 0]} label="Sample: none" />
            <Sparkline values={[3]} label="Sample: one value" />
          </Group>
        </Part>
        <Part name="letter-mark">
          <Group gap="sm">
            <LetterMark name="news.example" />
            <LetterMark name="instagram" />
            <LetterMark name="" />
          </Group>
        </Part>
        <Part name="chart">
          <ChartSample />
        </Part>
        <Part name="fields">
          <Fields />
        </Part>
        <Part name="form-section">
          <FormSection title="Limits" set="100 clicks" hint="Expiry, clicks" isWrong>
            <Text size="sm">The fields of the section.</Text>
          </FormSection>
          <FormSection title="Redirect" set={null} hint="Nothing set" isWrong={false}>
            <Text size="sm">The fields of the section.</Text>
          </FormSection>
        </Part>
        <Part name="filter-bar">
          <FilterBar label="Sample filters" names={['sample']}>
            <TextInput size="xs" label="Order" placeholder="Exact ID" />
          </FilterBar>
        </Part>
        <Part name="columns-button">
          <SampleColumns />
        </Part>
        <Part name="window-picker">
          <WindowPicker />
        </Part>
        <Part name="scroll-table">
          <ScrollTable label="Sample rows" columns={['Link', { figure: 'Clicks' }, 'Visitor']}>
            <Table.Tbody>
              {[1, 2].map((row) => (
                <Table.Tr key={row} data-selected={row === 2 || undefined}>
                  <LongTextCell>spring-{row}</LongTextCell>
                  <Table.Td ta="right">{row * 120}</Table.Td>
                  <Table.Td>
                    <VisitorLink id={VISITOR} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </ScrollTable>
          <OlderRows next="cursor" what="sample rows" />
        </Part>
        <Part name="tab-line">
          <Tabs value="programs">
            <TabLine
              label="Tabs"
              tabs={[
                { key: 'overview', title: 'Overview' },
                { key: 'programs', title: 'Programs' },
              ]}
              chosen="programs"
              choose={() => undefined}
            />
          </Tabs>
        </Part>
        <Part name="section">
          <Section title="A section" about="What it is about." action={<Button size="xs">Action</Button>}>
            <Facts>
              <Fact name="Plan">Pro, active</Fact>
              <Fact name="Currency">USD</Fact>
            </Facts>
          </Section>
        </Part>
        <Part name="notices">
          <Stack gap="sm">
            <FailureNotice error={LIMITED} again={() => undefined} />
            <Alert color="yellow" variant="outline" role="note" title="Needs a decision">
              2 signups to review
            </Alert>
            <Alert color="blue" variant="outline" role="note" title="What this changes">
              Figures of the past stay.
            </Alert>
            <SecretOnce value="lk_test_0000" what="key" />
          </Stack>
        </Part>
        <Part name="empty-state">
          <EmptyState title="No links yet" action={<Button>Create a link</Button>}>
            Create the first link.
          </EmptyState>
          <EmptyState title="No clicks yet" example={[['Autumn sale', '1,204 clicks']]} />
        </Part>
        <Part name="code-block">
          <CodeBlock label="A request" code={'curl https://hop.example/api/v1/me'} />
        </Part>
        <Part name="geo-credit">
          <GeoCredit />
        </Part>
      </Stack>
    </>
  );
}

/** A part with its name. */
const Part = ({ name, children }: { name: string; children: ReactNode }) => (
  <section aria-label={name}>
    <SmallNote mb={4}>{name}</SmallNote>
    <div data-part={name}>{children}</div>
  </section>
);

function Fields() {
  const [address, setAddress] = useState('https://shop.example/');
  const [chosen, setChosen] = useState(['email']);
  const [period, setPeriod] = useState('30');
  return (
    <Stack gap="sm" maw={420}>
      <AddressField label="Address" value={address} error={null} onChange={setAddress} />
      <AddressField
        label="Wrong address"
        value="shop"
        error="Must be a web address"
        onChange={() => undefined}
      />
      <ColorField label="Color" value="#157343" onChange={() => undefined} />
      <PictureField label="Picture" of="the page" value="" error={null} onChange={() => undefined} />
      <TextInput label="Text" description="With a description." placeholder="Placeholder" />
      <TextInput label="Disabled text" value="Fixed" disabled readOnly />
      <Select label="Choice" data={['One', 'Two']} value="One" />
      <ChoiceChips
        label="Channels"
        choices={[
          { value: 'email', label: 'Email' },
          { value: 'slack', label: 'Slack' },
        ]}
        chosen={chosen}
        onToggle={(value) =>
          setChosen(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value])
        }
      />
      <SegmentedControl
        aria-label="Period"
        size="xs"
        data={[
          { value: '7', label: '7 days' },
          { value: '30', label: '30 days' },
        ]}
        value={period}
        onChange={setPeriod}
      />
    </Stack>
  );
}

const SAMPLE_COLUMNS = [
  { key: 'clicks', name: 'Clicks' },
  { key: 'created', name: 'Created', isExtra: true },
];

/** What a sorted list has above its rows. */
function SampleColumns() {
  const columns = useColumnChoice('hoplog.parts.columns', SAMPLE_COLUMNS);
  const [isDescending, setDescending] = useState(true);
  const press = () => setDescending(!isDescending);
  const sorted = isDescending ? 'descending' : 'ascending';
  return (
    <>
      <Group gap="xs">
        <CsvDownload path="/enrollments" query={{}} name="referrers" />
        <ColumnsButton columns={columns} />
      </Group>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <SortHeading column={{ name: 'Link', isFigure: false, sorted: null, press }} />
            <SortHeading column={{ name: 'Clicks', isFigure: true, sorted, press }} />
          </Table.Tr>
        </Table.Thead>
      </Table>
    </>
  );
}
