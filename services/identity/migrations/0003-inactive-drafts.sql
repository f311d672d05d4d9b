-- What is written of a client without saying so is an inactive draft, as registration makes one (R13).
alter table clients alter column active set default false;
alter table clients alter column approval_state set default 'draft';
