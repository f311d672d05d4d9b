-- Which forms password hashes have: schemes and costs as in users_password_form, and the lengths of salt and key (R18.7).
-- The expression is that of services/identity/src/users/user-table.ts. users_password_form serves the previous version;
-- the next may drop it.
-- after 0003
create index concurrently users_password_hash_form on users ((
  substring(password_hash from '^\$(?:argon2id\$v=19|[^$]+)\$[^$]+\$')
    || regexp_replace(substring(password_hash from '^\$(?:argon2id\$v=19|[^$]+)\$[^$]+\$(.*)$'), '[^$=]', '.', 'g')
));
