import { providerWords } from '../core/connections/providers.ts';
import { type ConnectionTrouble, SILENT_DAYS } from '../sql/connections/connection-troubles.ts';

const WORDS: Readonly<Record<ConnectionTrouble['trouble'], (events: string) => { is: string; fix: string }>> =
  {
    incomplete: () => ({
      is: 'has had no signing secret for a day: its events are refused',
      fix: 'set the signing secret that the provider shows, on the page Connections of the console',
    }),
    refused: () => ({
      is: 'gets calls with a wrong signature, and no event since',
      fix: 'set the signing secret that the provider shows now, on the page Connections of the console',
    }),
    silent: () => ({
      is: `has had no event for ${SILENT_DAYS} days, or none since it was connected`,
      fix: 'look at the webhook at the provider: it must be active and have the address of the connection',
    }),
    waiting: (events) => ({
      is: `has events that have waited for more than 10 minutes: ${events}`,
      fix: 'npx hoplog status says whether a worker is alive; its log says what fails',
    }),
    failed: (events) => ({
      is: `has events of the last day that could not be processed: ${events}`,
      fix: 'read their reasons on the page Connections of the console, and process them again there',
    }),
  };

/** Returns the problem of a connection as a sentence, and its fix. */
export function describeTrouble({ workspace, provider, id, trouble, events }: ConnectionTrouble): {
  message: string;
  fix: string;
} {
  const { is, fix } = WORDS[trouble](events.toLocaleString('en'));
  return { message: `${providerWords(provider).name} of workspace ${workspace} (${id}) ${is}`, fix };
}
