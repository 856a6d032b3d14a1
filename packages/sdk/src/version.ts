/** That of package.json, which pages do not load. */
export const VERSION = '0.1.0'
