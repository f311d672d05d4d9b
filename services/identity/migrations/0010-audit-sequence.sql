-- The audit log takes only the next entry: a role that may insert cannot leave a gap, or take the last number there is.
-- after 0003
create function require_next_sequence() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Volatile, and so with the rows of the same statement.
  head bigint := coalesce((select max(sequence) from identity.audit_log), 0);
begin
  -- A difference: one more than the last number is out of range.
  if new.sequence - 1 is distinct from head then
    raise exception 'the audit log ends with entry %: its next is not %', head, new.sequence
      using errcode = 'check_violation';
  end if;
  return new;
end
$$;
revoke execute on function require_next_sequence() from public;
create trigger audit_log_next_sequence before insert on audit_log
  for each row execute function require_next_sequence();
