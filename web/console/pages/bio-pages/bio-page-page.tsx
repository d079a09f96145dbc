import { Anchor, Grid } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { useApi } from '../../api/queries.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { BlocksSkeleton } from '../../parts/skeletons.tsx';
import { Editor } from './editor.tsx';
import type { BioPage } from './responses.ts';

const EditorSkeleton = () => (
  <Grid gap="xl">
    <Grid.Col span={{ base: 12, md: 7 }}>
      <BlocksSkeleton heights={[36, 60, 110, 60, 200]} />
    </Grid.Col>
    <Grid.Col span={{ base: 12, md: 5 }} visibleFrom="md">
      <BlocksSkeleton heights={[640]} />
    </Grid.Col>
  </Grid>
);

/** The editor of one bio page, with its preview. */
export default function BioPagePage() {
  const { id = '' } = useParams<{ id: string }>();
  const page = useApi<BioPage>(`/bio-pages/${id}`);
  return (
    <>
      <Anchor component={Link} href="/bio-pages" size="sm">
        All bio pages
      </Anchor>
      {!page.data && <PageHeader title="Bio page" />}
      <QueryView query={page} skeleton={<EditorSkeleton />}>
        {(data) => <Editor key={data.id} page={data} />}
      </QueryView>
    </>
  );
}
