-- Corrected or refused fields of the pixel's reports, and tests of its installation.

CREATE TABLE report_problems (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  problem      text NOT NULL,              -- a name of core/tracking/report-problems.ts
  field        text NOT NULL,
  count        bigint NOT NULL,
  example      text,                       -- the last value, without personal data
  last_at      timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, problem, field)
);

-- A test that a member runs: a page that is opened with its id shows the arriving reports.
CREATE TABLE pixel_tests (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  url          text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pixel_tests_age ON pixel_tests (created_at);

CREATE TABLE pixel_test_calls (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  test_id uuid NOT NULL REFERENCES pixel_tests (id) ON DELETE CASCADE,
  at      timestamptz NOT NULL,
  -- { type, outcome, visitors, names, order, problems }: what arrived, without personal data.
  call    jsonb NOT NULL
);
CREATE INDEX pixel_test_calls_test ON pixel_test_calls (test_id, id);
