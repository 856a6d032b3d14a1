import type { RemovedFix } from './removed-fix.ts'

const LOGIN = 'tests/login/login.test.ts'

/** Of the login of browsers and the sessions of wallets. */
export const LOGIN_FIXES: readonly RemovedFix[] = [
  {
    finding: 'login 1 a session of a wallet changes nothing',
    marker: 'session-reads-only',
    test: 'tests/login/wallet-session.test.ts',
    title: 'POST /api/orders (createOrder): a session is no credential of a write',
  },
  {
    finding: 'login 2 no other site starts or ends a session',
    marker: 'session-site',
    to: 'false',
    test: 'tests/contract/start-session.test.ts',
    title: '403: a page of another site, also a sibling, and a user',
  },
  {
    finding: 'login 3 the cookie does not count for a sibling origin',
    marker: 'sibling-origin',
    to: "site === 'same-origin' || site === 'same-site'",
    test: 'tests/contract-wide/http-credentials.test.ts',
    title: 'is rejected from a page of a sibling origin that sends no Origin',
  },
  {
    finding: 'login 4 no other site signs a user out',
    marker: 'logout-site',
    test: LOGIN,
    title: '403 from another site, and the session stays',
  },
  {
    finding: 'login 5 a login returns to this site only',
    marker: 'return-to',
    to: 'return URL.parse(path, appUrl) ?? undefined',
    test: LOGIN,
    title: '400 for //evil.example: no open redirect',
  },
  {
    finding: 'login 6 a consent needs a recent login',
    marker: 'recent-consent',
    to: 'session === undefined',
    test: LOGIN,
    title: 'a consent needs a login of the last 15 minutes',
  },
  {
    finding: 'login 7 an ended session is no credential of a public operation',
    marker: 'ended-session-public',
    test: LOGIN,
    title: 'a cookie whose session ended is no credential where none is needed',
  },
  {
    finding: 'login 8 only a rejected refresh token ends a session',
    marker: 'refresh-outage',
    to: 'true',
    test: 'packages/platform/src/identity/oidc-login.test.ts',
    title: 'temporarily_unavailable is unavailable',
  },
  {
    finding: 'login 9 a signature starts one session',
    marker: 'session-started-once',
    test: 'tests/contract/start-session.test.ts',
    title: '401: a signature starts one session, whoever sends it again, and the session goes on',
  },
  {
    finding: 'login 10 a session that has ended leaves no cookie',
    marker: 'ended-cookie',
    test: 'tests/login/wallet-session.test.ts',
    title: 'a response that says that the session has ended removes its cookie',
  },
  {
    finding: 'login 11 a user signs out while the provider is away',
    marker: 'logout-without-provider',
    test: LOGIN,
    title: 'works while the provider cannot be reached and the tokens cannot be opened, by page and by API',
  },
  {
    finding: 'login 12 deleting an account revokes its refresh tokens',
    marker: 'erasure-revokes',
    test: LOGIN,
    title: 'deleting the account revokes the refresh tokens at the provider',
  },
  {
    finding: 'login 13 a consent asks the provider for a recent login',
    marker: 'consent-max-age',
    to: 'loginPath(returnTo(uid), undefined, again)',
    test: LOGIN,
    title: 'a consent asks the provider for a login of the last 15 minutes',
  },
  {
    finding: 'login 14 open streams ask the provider once a minute',
    marker: 'profile-of-streams',
    to: 'app.identity.fetchProfile(token)',
    test: 'tests/login/owner-streams.test.ts',
    title: 'ask the provider for the profile once a minute and session',
  },
]
