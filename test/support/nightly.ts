/**
 * Whether this run is the nightly one (`NIGHTLY=true`, `.github/workflows/nightly.yml`), which runs every test in full.
 */
export const NIGHTLY = process.env.NIGHTLY === 'true';

/** The tags of tests. A test or block with `{ tags: 'nightly' }` runs only in the nightly run. */
export const TAGS = [
  { name: 'nightly', description: 'repeats and rare variants, too long for each run', skip: !NIGHTLY },
];
