// The secrets of a client that open it now. Several may be valid at once, so that a secret can be rotated
// without a failed call; expired and retired ones are left out by the database's clock.

/** Expression over the row `c` of `clients`: SHA-256 of each valid secret in hex. Index: client_secrets_pkey. */
export const validSecretHashes = `array(select encode(s.secret_hash, 'hex') from client_secrets s
      where s.client_id = c.client_id and s.retired_at is null
        and (s.expires_at is null or s.expires_at > now()))`;
