import { Anchor } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { useApi } from '../../api/queries.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Editor } from './editor.tsx';
import type { BioPage } from './responses.ts';

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
      <QueryView query={page} lines={8}>
        {(data) => <Editor key={data.id} page={data} />}
      </QueryView>
    </>
  );
}
