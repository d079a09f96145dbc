/** `warning`: works, but with a defect, or not for long. `error`: clicks, reports, or the start fail. */
export type Severity = 'ok' | 'warning' | 'error';

/** The result of one check. */
export type Finding = {
  check: string;
  severity: Severity;
  message: string;
  /** A command or setting that fixes it; null for `ok`. */
  fix: string | null;
};

/** Creates findings of one check. */
export function findingsOf(check: string) {
  return {
    ok: (message: string): Finding => ({ check, severity: 'ok', message, fix: null }),
    warning: (message: string, fix: string): Finding => ({ check, severity: 'warning', message, fix }),
    error: (message: string, fix: string): Finding => ({ check, severity: 'error', message, fix }),
  };
}
