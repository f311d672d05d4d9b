-- Users of an earlier version whom only the stored spelling of their address finds: an import writes their keys first.
-- after 0003
create index concurrently users_without_email_key on users (sub) where email_key is null and email ~ '[^[:ascii:]]';
