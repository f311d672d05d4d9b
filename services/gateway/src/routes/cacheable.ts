// How long discovery and the key set may be cached (R17).
export const cacheable = { 'cache-control': 'public, max-age=300' };
