import { AppError, badRequest } from '../../core/errors.ts';
import { REPORT_PROBLEMS } from '../../core/tracking/report-problems.ts';
import { createPixelTest, pixelTest, TEST_HOURS } from '../../sql/pixel/pixel-tests.ts';
import { deleteReportProblems, reportProblems } from '../../sql/pixel/report-problems.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import { PixelTest, PixelTestBody, ReportProblemList } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'any' } as const;
const tags = ['Tracking'];
const MILLIS_PER_HOUR = 3_600_000;
/** Query parameter that starts a test in the pixel. */
const TEST_PARAMETER = 'hoplog_test';

type Found = NonNullable<Awaited<ReturnType<typeof pixelTest>>>;

/**
 * Registers the routes about the pixel: the refused and corrected fields of its reports, and tests of its installation.
 */
export async function pixelRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/pixel/problems',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'pixel.problems',
        summary: "List problems of the pixel's reports, the most recent first",
        description:
          'How often a report was refused, or recorded with a field changed or left out. A problem shows up within seconds.',
        response: { 200: ReportProblemList },
      },
    },
    async ({ auth }) => ({
      problems: (await reportProblems(pool, auth.workspace.id)).map(({ at, ...found }) => ({
        ...found,
        ...wordsOf(found.problem),
        last_at: at.toISOString(),
      })),
    }),
  );

  app.delete(
    '/pixel/problems',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'pixel.clearProblems',
        summary: "Clear the counts of the pixel's problems",
        response: { 200: Ok },
      },
    },
    async ({ auth }) => {
      await deleteReportProblems(pool, auth.workspace.id);
      return { ok: true as const };
    },
  );

  app.post(
    '/pixel/tests',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        checkRest: ({ url }: Partial<PixelTestBody>) => void (url !== undefined && requirePageUrl(url)),
      },
      schema: {
        tags,
        operationId: 'pixel.createTest',
        summary: 'Test whether the pixel is installed',
        description: `Open \`test_url\` in a browser, and read the test: it lists what the page sends, with reasons where something is refused or corrected. The page, and those that follow in its tab, report for ${TEST_HOURS} hour. Their calls also count as any other.`,
        body: PixelTestBody,
        response: { 201: PixelTest },
      },
    },
    async (request, reply) => {
      const { url } = request.body;
      requirePageUrl(url);
      return withIdempotency(pool, request, reply, async (tx) => {
        const id = await createPixelTest(tx, request.auth.workspace.id, url);
        return { status: 201, body: testRecord({ id, url, created_at: new Date(), calls: [] }) };
      });
    },
  );

  app.get(
    '/pixel/tests/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'pixel.getTest',
        summary: 'Get a test of the pixel with what has arrived',
        params: IdParams,
        response: { 200: PixelTest },
      },
    },
    async ({ auth, params }) => {
      const found = await pixelTest(pool, auth.workspace.id, params.id);
      if (!found) throw new AppError('not_found', 'the workspace has no such test');
      return testRecord(found);
    },
  );
}

function wordsOf(problem: keyof typeof REPORT_PROBLEMS) {
  const { outcome, text } = REPORT_PROBLEMS[problem];
  return { outcome, message: text };
}

function testRecord({ id, url, created_at, calls }: Found): PixelTest {
  const opened = new URL(url);
  opened.searchParams.set(TEST_PARAMETER, id);
  return {
    id,
    url,
    test_url: opened.href,
    expires_at: new Date(created_at.getTime() + TEST_HOURS * MILLIS_PER_HOUR).toISOString(),
    calls: calls.map(({ at, problems, ...call }) => ({
      ...call,
      at: at.toISOString(),
      problems: problems.map((found) => ({ ...found, ...wordsOf(found.problem) })),
    })),
  };
}

/** @throws {AppError} `bad_request` for an address that browsers do not open as a page */
function requirePageUrl(url: string): void {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw badRequest('url', 'must be an http or https URL');
}
