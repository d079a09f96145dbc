import { Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import type { LinkRecords } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Section } from '../../parts/section.tsx';
import { TabLine } from '../../parts/tab-line.tsx';
import { useUrlParameters } from '../../parts/url-parameters.ts';
import { snippetsFor } from './snippets.ts';

const DAY = 86_400_000;

/** Code to copy, with this workspace's URLs and a link. The tab is in the URL. */
export function QuickStart() {
  const { urls, workspace } = useSession();
  const [search, change] = useUrlParameters();
  const links = useApi<LinkRecords>('/links', { view: 'records', limit: 1 });
  // Start of a poll: 24 hours ago. Fixed while the page is open, so that the code does not change.
  const [since] = useState(() => new Date(Date.now() - DAY).toISOString());

  return (
    <Section title="Quick start" about="Examples for this workspace. Replace the dots with your keys.">
      <QueryView query={links} lines={10}>
        {(data) => {
          const snippets = snippetsFor({
            api: new URL('/api/v1', urls.base_url).href,
            shortUrl: new URL(urls.short_url).origin,
            domain: workspace.primary_domain || 'shop.example',
            currency: workspace.currency,
            link: data.links[0] ?? null,
            since,
          });
          const shown = snippets.find(({ key }) => key === search.get('snippet')) ?? snippets[0];
          return (
            <Tabs
              keepMounted={false}
              value={shown?.key ?? null}
              onChange={(key) => change({ snippet: key }, { replace: true })}
            >
              <TabLine
                label="Quick start"
                tabs={snippets}
                chosen={shown?.key}
                choose={(key) => change({ snippet: key }, { replace: true })}
              />
              {snippets.map(({ key, about, parts }) => (
                <Tabs.Panel key={key} value={key}>
                  <Stack gap="md">
                    <Text size="sm">{about}</Text>
                    {parts.map(({ label, code }) => (
                      <CodeBlock key={label} label={label} code={code} />
                    ))}
                  </Stack>
                </Tabs.Panel>
              ))}
            </Tabs>
          );
        }}
      </QueryView>
    </Section>
  );
}
