-- Who made an invitation: it lets nobody in once its maker could not make it any more. Both null: an operator of the service.
ALTER TABLE invites
  ADD COLUMN maker_member_id uuid REFERENCES members (id),
  ADD COLUMN maker_key_id    uuid REFERENCES api_keys (id);
