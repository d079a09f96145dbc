import { Group, NativeSelect, Tabs } from '@mantine/core';

type NamedTab = { key: string; title: string };
type Props = {
  label: string;
  tabs: readonly NamedTab[];
  /** Seldom used ones, in a list behind the tabs; a chosen one is a tab too. */
  more?: readonly NamedTab[];
  /** Key of the chosen tab. */
  chosen: string | undefined;
  choose: (key: string) => void;
};

/** The tabs of a page: a list to choose from on a phone, where they would take several lines. */
export function TabLine({ label, tabs, more = [], chosen, choose }: Props) {
  const shown = [...tabs, ...more.filter(({ key }) => key === chosen)];
  const options = (all: readonly NamedTab[]) => all.map(({ key, title }) => ({ value: key, label: title }));
  return (
    <>
      <NativeSelect
        hiddenFrom="sm"
        mb="md"
        aria-label={label}
        data={options([...tabs, ...more])}
        value={chosen}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      <Group visibleFrom="sm" mb="md" gap="xs" wrap="nowrap" align="flex-end">
        <Tabs.List flex={1} aria-label={label}>
          {shown.map(({ key, title }) => (
            <Tabs.Tab key={key} value={key}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {more.length > 0 && (
          <NativeSelect
            aria-label={`More ${label.toLowerCase()}`}
            size="xs"
            w={96}
            data={[{ value: '', label: 'More' }, ...options(more)]}
            value=""
            onChange={(event) => event.currentTarget.value && choose(event.currentTarget.value)}
          />
        )}
      </Group>
    </>
  );
}
