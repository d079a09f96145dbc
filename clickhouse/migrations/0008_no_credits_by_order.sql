-- Copied by 0007. A file of its own: 0007 can be run again as long as what it copies is there.
DROP TABLE IF EXISTS {{database}}.order_credits_before_0007 {{on_cluster}};
