import { Anchor, Button, Group, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatInstant } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { LongTextCell } from '../../parts/scroll-table.tsx';
import { Section } from '../../parts/section.tsx';
import { AssetDialog } from './asset-dialog.tsx';
import type { Asset, Assets, Program } from './responses.ts';
import { useViewState } from './view-state.ts';

const PAGE = 20;
/** What the list looks like with data. */
const EXAMPLE = [
  ['Winter banner', 'Image', '1200 × 628'],
  ['Text for a post', 'Text', 'Copied in the portal'],
];
const KINDS = { image: 'Image', text: 'Text', link: 'Link' } as const;

/** What programs give their affiliates in the portal. */
export function AssetsSection({ programs }: { programs: readonly Program[] }) {
  const view = useViewState();
  const { can } = useSession();
  const [isOpen, setOpen] = useState(false);
  const assets = useApi<Assets>('/assets', { cursor: view.get('cursor'), limit: PAGE });
  const hasSeveral = programs.length > 1;
  return (
    <Section
      title="Assets"
      about="Images, texts, and links that affiliates download and copy in the portal of their program."
      action={
        can('operator') && (
          <Button size="xs" onClick={() => setOpen(true)}>
            Add an asset
          </Button>
        )
      }
    >
      <ListTab
        query={assets}
        items={({ assets }) => assets}
        table={{
          label: 'List of assets',
          isDouble: true,
          minWidth: 640,
          columns: ['Name', 'Content', hasSeveral && 'Program', 'Added', ''],
        }}
        paged="assets"
        empty={
          <EmptyState title="No assets yet" example={EXAMPLE}>
            Add a banner, a text for a post, or a link to your brand guide.
          </EmptyState>
        }
        row={(asset) => (
          <Table.Tr key={asset.id}>
            <LongTextCell>
              {asset.name}
              <SmallNote>{KINDS[asset.type]}</SmallNote>
            </LongTextCell>
            <LongTextCell>
              <Content asset={asset} />
            </LongTextCell>
            {hasSeveral && (
              <LongTextCell>{programs.find(({ id }) => id === asset.program_id)?.name}</LongTextCell>
            )}
            <Table.Td>{formatInstant(asset.created_at)}</Table.Td>
            <Table.Td>{can('operator') && <DeleteAsset asset={asset} />}</Table.Td>
          </Table.Tr>
        )}
      />
      {isOpen && <AssetDialog programs={programs} close={() => setOpen(false)} />}
    </Section>
  );
}

function Content({ asset: { name, image, text, url } }: { asset: Asset }) {
  if (image !== null)
    return (
      <Group gap="sm" wrap="nowrap">
        <Anchor href={image.url} target="_blank" rel="noreferrer" aria-label={`Open the image ${name}`}>
          <img className="asset-image" src={image.url} alt="" loading="lazy" />
        </Anchor>
        <SmallNote>
          {image.width} × {image.height}
        </SmallNote>
      </Group>
    );
  return (
    <Text size="sm" lineClamp={3} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>
      {text ?? url}
    </Text>
  );
}

function DeleteAsset({ asset: { id, name } }: { asset: Asset }) {
  const remove = useSend<void>(() => ({ path: `/assets/${id}`, method: 'DELETE' }), {
    refresh: ['/assets'],
    done: 'Asset deleted',
  });
  return (
    <ConfirmButton
      size="compact-xs"
      aria-label={`Delete the asset ${name}`}
      question={`Delete the asset ${name}?`}
      consequence="It leaves the portal at once. What affiliates have downloaded stays with them."
      yes="Delete"
      pending={remove.isPending}
      onConfirm={() => remove.mutateAsync()}
    >
      Delete
    </ConfirmButton>
  );
}
