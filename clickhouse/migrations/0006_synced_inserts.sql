-- What an insert has answered outlives a power cut: the part is synced first. Without it the part is in the page cache only,
-- while PostgreSQL syncs the place of the lane behind it: rows would be gone that nothing sends again. What a merge or a
-- mutation makes of synced parts is synced as well, because the parts that it replaces may be removed at once
-- (old_parts_lifetime is 0 in the embedded store). The merged_* tables do without: a report makes anew what they lack.
ALTER TABLE {{database}}.clicks {{on_cluster}}
  MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE {{database}}.identifies {{on_cluster}}
  MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE {{database}}.orders {{on_cluster}}
  MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE {{database}}.order_credits {{on_cluster}}
  MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE {{database}}.deleted_links {{on_cluster}}
  MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE {{database}}.clicks_rolled_up {{on_cluster}}
  MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE {{database}}.rolled_up_workspaces {{on_cluster}}
  MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE {{database}}.rolled_up_periods {{on_cluster}}
  MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;
