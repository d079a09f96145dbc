/** Style sheets are bundled beside the script that imports them. */
declare module '*.css';

interface ImportMeta {
  /** Vite replaces the call by the files that match. */
  glob(
    pattern: string,
    options: { query: string; import: 'default'; eager: true },
  ): Record<string, string | undefined>;
}
