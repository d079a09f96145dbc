import { type Static, Type } from 'typebox';
import { Body, Cursor, Instant, Limit, Name, NextCursor, OneOf, Uuid } from '../schemas.ts';

export const FolderBody = Body({ name: Name }, { title: 'CreateFolder' });

/** A rename without a name is allowed, and changes nothing. */
export const FolderChange = Body({ name: Type.Optional(Name) }, { title: 'UpdateFolder' });

export const FolderRecord = Type.Object(
  { id: Uuid, name: Type.String(), created_at: Instant },
  { title: 'Folder' },
);
export type FolderRecord = Static<typeof FolderRecord>;

/** A folder in the list, where its links may be counted. */
const ListedFolder = Type.Object(
  {
    ...FolderRecord.properties,
    links: Type.Optional(
      Type.Integer({ description: 'Links that are not archived. Only with `counts=include`.' }),
    ),
  },
  { title: 'ListedFolder' },
);

export const FolderList = Type.Object(
  { folders: Type.Array(ListedFolder), next_cursor: NextCursor },
  { title: 'FolderList' },
);

export const FolderQuery = Type.Object({
  limit: Limit(500, 100),
  cursor: Type.Optional(Cursor),
  counts: OneOf(['exclude', 'include'], {
    default: 'exclude',
    description: '`include`: each folder with the number of its links.',
  }),
});
