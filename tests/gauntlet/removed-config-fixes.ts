import type { RemovedFix } from './removed-fix.ts'

/** What a new user meets first: the settings, the terminal programs, environment files and logs. */
export const CONFIG_FIXES: readonly RemovedFix[] = [
  {
    finding: 'new-user N7 the API names the audience of its own site only',
    marker: 'login-audience-of-this-api',
    to: 'true',
    test: 'packages/cli/src/run.test.ts',
    title: 'names the audience of another site: the user must name it too',
  },
  {
    finding: 'shop 1 login returns to the origin of the pages',
    marker: 'one-origin',
    test: 'tests/deploy/configuration.test.ts',
    title: 'it does not start when the pages have another origin than APP_URL',
  },
  {
    finding: 'shop 2 a visitor draws a limited number of pages at once',
    marker: 'draws-at-once',
    test: 'tests/browser/web-server.test.ts',
    title: 'pages are drawn at once',
  },
  {
    finding: 'shop 3 a visitor has a limited number of new pictures drawn',
    marker: 'pictures-limited',
    test: 'tests/browser/web.test.ts',
    title: 'an address gets a limited number of new ones in a minute',
  },
  {
    finding: 'shop 4 visitors of one IPv6 network share their limits',
    marker: 'visitors-by-network',
    test: 'tests/browser/web-server.test.ts',
    title: 'draws 8 at once for all addresses of a /64',
  },
  {
    finding: 'new-user N10 environment files are quoted for shells',
    marker: 'env-files-quoted',
    to: 'true',
    test: 'tests/deploy/env-files.test.ts',
    title: 'a shell and Node read the same values',
  },
  {
    finding: 'new-user N15 a late response of the database is no outage',
    marker: 'late-response-is-no-outage',
    to: 'answer.then(logChange)',
    test: 'packages/database/src/readiness.test.ts',
    title: 'a response that is late is logged as what it says',
  },
]
