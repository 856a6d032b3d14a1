export const PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  jwks: '/oauth/jwks',
  interaction: '/oauth/interaction',
  login: '/auth/login',
  callback: '/auth/callback',
  logout: '/auth/logout',
  connections: '/oauth/connections',
} as const

/** The header by which errors are logged with the id of their request. */
export const REQUEST_ID = 'x-request-id'
