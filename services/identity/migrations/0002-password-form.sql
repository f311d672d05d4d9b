-- Which schemes and costs the password hashes have, found without reading every user: a login costs the same whoever it
-- is for (R18). The expression is that of services/identity/src/users/user-table.ts.
create index users_password_form on users (
  substring(password_hash from '^\$(?:argon2id\$v=19|[^$]+)\$[^$]+\$')
);
