import { type Static, Type } from 'typebox';
import { Body, Cursor, Instant, Limit, Name, NextCursor, Uuid } from '../schemas.ts';

export const FolderBody = Body({ name: Name }, { title: 'CreateFolder' });

/** A rename without a name is allowed, and changes nothing. */
export const FolderChange = Body({ name: Type.Optional(Name) }, { title: 'UpdateFolder' });

export const FolderRecord = Type.Object(
  { id: Uuid, name: Type.String(), created_at: Instant },
  { title: 'Folder' },
);
export type FolderRecord = Static<typeof FolderRecord>;

export const FolderList = Type.Object(
  { folders: Type.Array(FolderRecord), next_cursor: NextCursor },
  { title: 'FolderList' },
);

export const FolderQuery = Type.Object({ limit: Limit(500, 100), cursor: Type.Optional(Cursor) });
