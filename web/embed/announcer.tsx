import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** Says something to who listens to the page instead of looking at it. */
export type Announce = (text: string) => void;

export const AnnouncerContext = createContext<Announce>(() => {});

export const useAnnounce = (): Announce => useContext(AnnouncerContext);

/** There from the first moment on: a region that comes with its text is not read. */
export function LiveRegion({ text }: { text: string }) {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {text}
    </div>
  );
}
