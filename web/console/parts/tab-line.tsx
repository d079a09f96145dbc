import { NativeSelect, Tabs } from '@mantine/core';

type Props = {
  label: string;
  tabs: readonly { key: string; title: string }[];
  /** Key of the chosen tab. */
  chosen: string | undefined;
  choose: (key: string) => void;
};

/** The many tabs of a page: a list to choose from on a phone, where they would take several lines. */
export const TabLine = ({ label, tabs, chosen, choose }: Props) => (
  <>
    <NativeSelect
      hiddenFrom="sm"
      mb="md"
      aria-label={label}
      data={tabs.map(({ key, title }) => ({ value: key, label: title }))}
      value={chosen}
      onChange={(event) => choose(event.currentTarget.value)}
    />
    <Tabs.List visibleFrom="sm" mb="md" aria-label={label}>
      {tabs.map(({ key, title }) => (
        <Tabs.Tab key={key} value={key}>
          {title}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  </>
);
