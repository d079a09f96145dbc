import { UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFolder, IconFolderPlus } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { Folders } from '../api/links.ts';
import { useApi } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { formatCount } from '../formats.ts';
import { useFolderDrop } from './use-folder-drop.ts';

const NewFolderDialog = lazy(() => import('../parts/new-folder-dialog.tsx'));

/** Folders that are listed at first. */
const FEW = 8;

/**
 * The folders of links below their page in the navigation, by name, each with the number of its links. Links that are
 * dragged from the table onto one move into it.
 *
 * @param close closes the navigation of a phone
 */
export default function FolderList({ close }: { close: () => void }) {
  const { can } = useSession();
  const [location, navigate] = useLocation();
  const open = new URLSearchParams(useSearch()).get('folder_id');
  const [isNew, { open: begin, close: end }] = useDisclosure(false);
  const [isLong, { open: showAll }] = useDisclosure(false);
  const read = useApi<Folders>('/folders', { limit: 500, counts: 'include' });
  const folders = (read.data?.folders ?? []).toSorted((one, other) => one.name.localeCompare(other.name));
  const shown = isLong ? folders : folders.filter(({ id }, nth) => nth < FEW || id === open);
  const drop = useFolderDrop();
  if (!can('operator') && folders.length === 0) return null;
  return (
    <>
      <ul className="plain-list shell-folders" aria-label="Folders">
        {shown.map(({ id, name, links = 0 }) => {
          const isOpen = location === '/links' && id === open;
          return (
            <li
              key={id}
              data-drop={drop.over === id || undefined}
              {...(can('operator') && drop.folder({ id, name }))}
            >
              <Link
                href={`/links?folder_id=${id}`}
                onClick={close}
                className={isOpen ? 'shell-page shell-page-open' : 'shell-page'}
                aria-current={isOpen ? 'page' : undefined}
                title={name}
              >
                <IconFolder size={16} stroke={1.6} />
                <bdi>{name}</bdi>
                <span className="shell-count">
                  {formatCount(links)}
                  <VisuallyHidden> {links === 1 ? 'link' : 'links'}</VisuallyHidden>
                </span>
              </Link>
            </li>
          );
        })}
        {shown.length < folders.length && (
          <li>
            <UnstyledButton className="shell-page" onClick={showAll}>
              Show all {formatCount(folders.length)} folders
            </UnstyledButton>
          </li>
        )}
        {can('operator') && (
          <li>
            <UnstyledButton className="shell-page" onClick={begin}>
              <IconFolderPlus size={16} stroke={1.6} />
              Add a folder
            </UnstyledButton>
          </li>
        )}
      </ul>
      {isNew && (
        <Suspense fallback={null}>
          <NewFolderDialog close={end} made={(id) => navigate(`/links?folder_id=${id}`)} />
        </Suspense>
      )}
    </>
  );
}
