import { type DragEvent, useState } from 'react';
import { type Change, useSend } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { plural } from '../formats.ts';
import { areLinksDragged, type DraggedLinks, readDragged } from '../parts/dragged-links.ts';

type Move = { folder: { id: string; name: string }; links: DraggedLinks };
type Results = ResponseOf<'/links/bulk', 'patch'>;

const changeOf = (links: DraggedLinks, folder: string | null): Change => ({
  path: '/links/bulk',
  method: 'PATCH',
  body: { ids: links.map(({ id }) => id), set: { folder_id: folder } },
});

/** Moves links that are dragged from the table onto a folder. Without a mouse, the bar of selected links moves them. */
export function useFolderDrop() {
  const [over, setOver] = useState<string | null>(null);
  const move = useSend<Move, Results>(({ folder, links }) => changeOf(links, folder.id), {
    refresh: ['/links', '/folders'],
    done: ({ results }, { folder }) => {
      const moved = results.filter(({ status }) => status < 400).length;
      const kept = results.length - moved;
      const rest = kept > 0 ? `, ${plural(kept, 'link was', 'links were')} not changed` : '';
      return `${plural(moved, 'link', 'links')} moved to ${folder.name}${rest}`;
    },
    undo: (_, { links }) =>
      [...new Set(links.map(({ folder_id }) => folder_id))].map((before) =>
        changeOf(
          links.filter(({ folder_id }) => folder_id === before),
          before,
        ),
      ),
  });
  return {
    /** The folder that links are held over. */
    over,
    /** Handlers of a folder. */
    folder: (folder: Move['folder']) => ({
      onDragOver: (event: DragEvent) => {
        if (!areLinksDragged(event.dataTransfer)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = 'move';
        setOver(folder.id);
      },
      onDragLeave: () => setOver((now) => (now === folder.id ? null : now)),
      onDrop: (event: DragEvent) => {
        setOver(null);
        if (!areLinksDragged(event.dataTransfer)) return;
        event.preventDefault();
        const links = readDragged(event.dataTransfer).filter(({ folder_id }) => folder_id !== folder.id);
        if (links.length > 0) move.mutate({ folder, links });
      },
    }),
  };
}
