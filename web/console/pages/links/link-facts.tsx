import { Badge, Code, Group, Paper } from '@mantine/core';
import { messageOf } from '../../api/failures.ts';
import {
  type Folders,
  type FoundLinks,
  type LinkRecord,
  PIXEL_PLATFORMS,
  STATUS_NAMES,
} from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { channelName, formatCount, formatInstant, plural } from '../../formats.ts';
import { ChannelName } from '../../parts/channel-mark.tsx';
import { DestinationMark, hostOf, useDestinationPages } from '../../parts/destination-pages.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { draftOf } from './form/link-draft.ts';
import { REDIRECT } from './form/redirect.tsx';

/** Settings of a link; unset ones are left out. */
export function LinkFacts({ link }: { link: LinkRecord }) {
  const folders = useApi<Folders>(link.folder_id ? '/folders' : null, { limit: 500 });
  const redirect = REDIRECT.words(draftOf(link), null);
  const pixels = PIXEL_PLATFORMS.filter((name) => link.retargeting?.[name]);
  return (
    <Paper withBorder p="md" component="section" aria-label="Settings of the link">
      <Facts>
        <Fact name="Name">{link.name}</Fact>
        <Fact name="Status">
          <Status id={link.id} />
        </Fact>
        <Fact name="Destination">
          <Destination link={link} />
          {link.external && ' (not our own site)'}
        </Fact>
        <Fact name="Channel">
          <ChannelName channel={link.channel ?? 'smart'} />
        </Fact>
        {link.domain !== null && <Fact name="Domain">{link.domain}</Fact>}
        {link.utm_campaign !== null && <Fact name="UTM campaign">{link.utm_campaign}</Fact>}
        {link.tags.length > 0 && (
          <Fact name="Tags">
            <Group gap={4}>
              {link.tags.map((tag) => (
                <Badge key={tag} variant="default" tt="none">
                  {tag}
                </Badge>
              ))}
            </Group>
          </Fact>
        )}
        {link.folder_id !== null && <Fact name="Folder">{folderName(folders, link.folder_id)}</Fact>}
        {link.rules && <Fact name="Rules">{plural(link.rules.length, 'rule', 'rules')}</Fact>}
        {link.targeting?.ios && <Fact name="On iPhones and iPads">{link.targeting.ios}</Fact>}
        {link.targeting?.android && <Fact name="On Android">{link.targeting.android}</Fact>}
        {link.targeting?.mobile && <Fact name="On phones and tablets">{link.targeting.mobile}</Fact>}
        {link.targeting?.desktop && <Fact name="On computers">{link.targeting.desktop}</Fact>}
        {link.split && <Fact name="Split test">{link.split.map(({ weight }) => weight).join(' : ')}</Fact>}
        {link.starts_at !== null && <Fact name="Starts">{formatInstant(link.starts_at)}</Fact>}
        {link.expires_at !== null && <Fact name="Expires">{formatInstant(link.expires_at)}</Fact>}
        {link.max_clicks !== null && <Fact name="Click limit">{formatCount(link.max_clicks)}</Fact>}
        {link.expired_redirect_url !== null && (
          <Fact name="Destination after expiry">{link.expired_redirect_url}</Fact>
        )}
        {link.password_protected && <Fact name="Password">Visitors are asked for it</Fact>}
        {redirect !== null && <Fact name="Redirect">{redirect}</Fact>}
        {link.preview && (
          <Fact name="Social preview">
            {link.preview.title ?? link.preview.description ?? link.preview.image_url}
          </Fact>
        )}
        {pixels.length > 0 && (
          <Fact name="Retargeting pixels">{pixels.map((name) => channelName(name)).join(', ')}</Fact>
        )}
        <Fact name="Created">{formatInstant(link.created_at)}</Fact>
        <Fact name="Changed">{formatInstant(link.updated_at)}</Fact>
        {(link.external_id !== null || link.metadata !== null) && (
          <Fact name="For developers">
            {link.external_id !== null && (
              <div>
                External ID <Code>{link.external_id}</Code>
              </div>
            )}
            {link.metadata !== null && (
              <div>
                Metadata <Code style={{ overflowWrap: 'anywhere' }}>{JSON.stringify(link.metadata)}</Code>
              </div>
            )}
          </Fact>
        )}
      </Facts>
    </Paper>
  );
}

/** The address of a link's destination, below its site's icon and title. */
function Destination({ link }: { link: LinkRecord }) {
  const page = useDestinationPages([link.id]).get(link.id);
  return (
    <>
      <div>
        <DestinationMark page={page} name={hostOf(link.destination)} />
        <bdi>{page?.title ?? hostOf(link.destination)}</bdi>
      </div>
      {link.destination}
    </>
  );
}

type Asked<T> = { data: T | undefined; isError: boolean; error: Error | null };

/** The folder's name; its ID if it is beyond the listed folders. */
function folderName(folders: Asked<Folders>, folderId: string): string {
  if (folders.data === undefined) return pendingText(folders);
  return folders.data.folders.find(({ id }) => id === folderId)?.name ?? folderId;
}

/** A separate request: the record does not say whether the click limit is used up. */
function Status({ id }: { id: string }) {
  const found = useApi<FoundLinks>('/links/search', { ids: id, figures: 'exclude' });
  const status = found.data?.links.find(({ link }) => link.id === id)?.status;
  if (status) return STATUS_NAMES[status];
  return pendingText(found);
}

/** Placeholder or failure of a pending value. */
function pendingText({ isError, error }: Asked<unknown>): string {
  return isError ? `Unavailable: ${messageOf(error)}` : '…';
}
