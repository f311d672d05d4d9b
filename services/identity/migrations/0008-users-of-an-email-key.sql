-- Not unique: the previous version let several users have one address, in different spellings.
-- after 0003
create index concurrently users_email_key on users (email_key);
