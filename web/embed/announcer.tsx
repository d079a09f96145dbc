import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** Announces a text to screen readers. */
export type Announce = (text: string) => void;

export const AnnouncerContext = createContext<Announce>(() => {});

export const useAnnounce = (): Announce => useContext(AnnouncerContext);

/** Must be in the page before its text: screen readers ignore a region that is added with its text. */
export function LiveRegion({ text }: { text: string }) {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {text}
    </div>
  );
}
