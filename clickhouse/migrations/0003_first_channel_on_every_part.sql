-- first_channel stood on part 0 of an order only, so ltv had to put every order together. Of equal versions the row that
-- came last stays, so a second run changes nothing.
INSERT INTO {{database}}.order_credits
SELECT credit.workspace_id, credit.order_id, credit.version, credit.part, credit.ts, credit.link_id, credit.channel,
  credit.share, credit.amount_minor, origin.first_channel
FROM {{database}}.order_credits AS credit
INNER JOIN {{database}}.order_credits AS origin
  ON origin.workspace_id = credit.workspace_id AND origin.order_id = credit.order_id AND origin.version = credit.version
WHERE credit.part > 0 AND credit.first_channel = '' AND origin.part = 0 AND origin.first_channel != '';
