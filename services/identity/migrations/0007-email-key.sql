-- The key of the e-mail address: IDNA form of the domain, NFC of the rest, lower case (R30). Written by identity, null until
-- it has been. users_email serves the previous version; the next may drop it.
-- after 0003
alter table users add column email_key text;
grant update (email_key) on users to identity_rw;
