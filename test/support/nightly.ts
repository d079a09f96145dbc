/** Whether this run is the nightly one (`NIGHTLY=true`, `.github/workflows/nightly.yml`), which plays every test whole. */
export const NIGHTLY = process.env.NIGHTLY === 'true';

/** The tags that a test may have: with `{ tags: 'nightly' }`, of a test or a block, it is left to the nightly run. */
export const TAGS = [
  { name: 'nightly', description: 'repeats and rare variants, too long for each run', skip: !NIGHTLY },
];
