// The signature algorithms of this service, and which tokens they sign (R15).
export const signingAlgorithms = ['ES256', 'RS256'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** ID tokens: the specification (§4) fixes it. Access tokens: a setting. */
export const idTokenAlgorithm: SigningAlgorithm = 'RS256';

/** Seconds for which a client may keep the key set: a key is published this long before it signs (R17). */
export const keySetLifetime = 300;

/** Seconds that access and ID tokens are valid (specification §5). */
export const tokenLifetime = 900;

/**
 * Seconds for which a retired key stays published: until its last token has expired (R17), with a minute for
 * the pods that had not yet heard of the retirement.
 */
export const retiredKeyLifetime = tokenLifetime + 60;
