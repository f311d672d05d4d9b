/** Ports for the operator's people and programs, by the prefix of their settings. */
export const privatePorts = { OPERATOR: 7201, FEED: 7301 } as const;
