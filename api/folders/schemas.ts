import { type Static, Type } from 'typebox';
import { Body, Instant, Limit, Nullable, Uuid } from '../schemas.ts';

export const FolderBody = Body({ name: Type.String({ minLength: 1, maxLength: 100 }) });

/** A rename may leave the name out, and then changes nothing. */
export const FolderChange = Body({ name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })) });

export const FolderRecord = Type.Object({ id: Uuid, name: Type.String(), created_at: Instant });
export type FolderRecord = Static<typeof FolderRecord>;

export const FolderList = Type.Object({ folders: Type.Array(FolderRecord), next_cursor: Nullable(Instant) });

export const FolderQuery = Type.Object({
  limit: Limit(500, 100),
  cursor: Type.Optional(Type.String({ format: 'date-time' })),
});
