import type { LinkRecord } from '../api/links.ts';

/** Links on their way from the table to a folder of the navigation. */
export type DraggedLinks = Pick<LinkRecord, 'id' | 'folder_id'>[];

/** The kind of what is dragged: other pages can't make it, and a drop on other pages has the addresses alone. */
const KIND = 'application/x-hoplog-links';

/** Puts links into a drag that begins. */
export function writeDragged(drag: DataTransfer, links: readonly LinkRecord[]): void {
  drag.effectAllowed = 'copyMove';
  drag.setData(KIND, JSON.stringify(links.map(({ id, folder_id }) => ({ id, folder_id }))));
  const addresses = links.map(({ short_url }) => short_url).join('\n');
  drag.setData('text/uri-list', addresses);
  drag.setData('text/plain', addresses);
}

/** Whether links of the table are dragged. What they are is known only once they are dropped. */
export const areLinksDragged = (drag: DataTransfer): boolean => drag.types.includes(KIND);

/** The links that were dropped. */
export function readDragged(drag: DataTransfer): DraggedLinks {
  const text = drag.getData(KIND);
  return text === '' ? [] : (JSON.parse(text) as DraggedLinks);
}
