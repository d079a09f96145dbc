import { Group, NativeSelect, Paper, Stack, Tabs } from '@mantine/core';
import { Suspense, useState } from 'react';
import { TextPress } from '../parts/text-press.tsx';
import { lazyPage } from '../shell/lazy-page.tsx';
import { BarList } from './bar-list.tsx';
import { CARDS, type Card, type Tab, tabKey } from './dimensions.ts';
import { useView } from './use-view.ts';
import { WorldMap } from './world-map.tsx';

const DETAILS = lazyPage<{ tab: Tab; close: () => void }>(() => import('./details-dialog.tsx'));

/** The cards with lists of values, each as high as its list, in two columns. Only visible tabs are requested. */
export function Breakdowns() {
  return (
    <div className="breakdowns">
      {[0, 1].map((column) => (
        <Stack key={column} gap="md" miw={0}>
          {CARDS.filter((_, nth) => nth % 2 === column).map((card) => (
            <BreakdownCard key={card.parameter} card={card} />
          ))}
        </Stack>
      ))}
    </div>
  );
}

/** Tabs that are shown; the others are in a list beside them. */
const SHOWN_TABS = 5;

/** A card's tabs: those always visible, and those in its list. */
const tabsOf = ({ tabs }: Card) => {
  const others = tabs.filter(({ dimension }) => dimension.startsWith('utm_'));
  return { shown: tabs.filter((tab) => !others.includes(tab)).slice(0, SHOWN_TABS), others };
};

function BreakdownCard({ card }: { card: Card }) {
  const { search, change } = useView();
  const [isOpen, setOpen] = useState(false);
  const [Details] = useState(() => DETAILS.component());
  const { shown, others } = tabsOf(card);
  const tab = card.tabs.find((one) => tabKey(one) === search.get(card.parameter)) ?? card.tabs[0];
  if (!tab) return null;
  const choose = (key: string | null) =>
    change(
      { [card.parameter]: key === (card.tabs[0] && tabKey(card.tabs[0])) ? null : key },
      { replace: true },
    );
  const showAll = (
    <TextPress onClick={() => setOpen(true)} mt="xs">
      Show all<span className="for-readers"> {tab.map ? 'countries' : tab.title.toLowerCase()}</span>
    </TextPress>
  );
  return (
    <Paper withBorder p="md" component="section" aria-label={card.label} miw={0} className="breakdown">
      <Tabs value={tabKey(tab)} keepMounted={false} onChange={choose} variant="none">
        <Group justify="space-between" wrap="nowrap" gap="xs" mb="sm" align="center">
          <Tabs.List aria-label={card.label} className="card-tabs">
            {shown.map((one) => (
              <Tabs.Tab key={tabKey(one)} value={tabKey(one)} px={6} py={4}>
                {one.title}
              </Tabs.Tab>
            ))}
            {others.includes(tab) && (
              <Tabs.Tab value={tabKey(tab)} px={6} py={4}>
                {tab.title}
              </Tabs.Tab>
            )}
          </Tabs.List>
          {others.length > 0 && (
            <NativeSelect
              aria-label="UTM parameters"
              size="xs"
              w={76}
              style={{ flex: 'none' }}
              data={[
                { value: '', label: 'UTM' },
                ...others.map((one) => ({ value: tabKey(one), label: one.title })),
              ]}
              value=""
              onChange={(event) => choose(event.currentTarget.value || null)}
            />
          )}
        </Group>
        <Tabs.Panel value={tabKey(tab)} className="breakdown-panel">
          {tab.map ? (
            <>
              <WorldMap />
              {showAll}
            </>
          ) : (
            <BarList tab={tab} more={showAll} />
          )}
        </Tabs.Panel>
      </Tabs>
      {isOpen && (
        <Suspense fallback={null}>
          <Details tab={tab} close={() => setOpen(false)} />
        </Suspense>
      )}
    </Paper>
  );
}
