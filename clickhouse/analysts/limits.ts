type Limit = { value: number; least?: number; most?: number };

/**
 * The settings of an analyst's queries: at most `most`, at least `least` where 0 would mean no limit; without both they
 * can't be changed. `readonly = 2` allows clients such as Grafana to change other settings.
 */
export const ANALYST_LIMITS: Readonly<Record<string, Limit>> = {
  readonly: { value: 2 },
  /** Seconds. */
  max_execution_time: { value: 60, least: 1, most: 60 },
  /** Bytes. */
  max_memory_usage: { value: 2_000_000_000, least: 1, most: 2_000_000_000 },
  max_memory_usage_for_user: { value: 3_000_000_000 },
  max_temporary_data_on_disk_size_for_user: { value: 4_000_000_000 },
  max_concurrent_queries_for_user: { value: 4 },
  max_threads: { value: 2, least: 1, most: 4 },
  max_result_rows: { value: 1_000_000, least: 1, most: 1_000_000 },
};
