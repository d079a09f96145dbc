/**
 * `npm start`: runs the whole service on one machine. Writes one line of JSON to standard output once redirects and
 * API are ready, and logs and progress to standard error.
 *
 * Exit status: 0 after SIGTERM or SIGINT, 1 when it could not start.
 */
import { loadEnvFile } from '../core/settings/env-file.ts';
import { assertAddressSpace } from './embedded/address-space.ts';
import { leaveRoot } from './embedded/leave-root.ts';

// Files in DATA_DIR are readable by this user only.
process.umask(0o077);
const startedAt = performance.now();
let refusal: unknown = null;
try {
  assertAddressSpace();
  loadEnvFile();
  leaveRoot();
} catch (error) {
  refusal = error;
}
// Loaded only now: root starts this program again as another user, and does not need it.
const { refuseStart, superviseService } = await import('./supervisor/main.ts');
if (refusal !== null) refuseStart(refusal);
await superviseService(startedAt);
