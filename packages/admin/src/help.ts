import { FIELDS_HELP, usageOf } from '@market/contract/operation-fields'
import { operatorOperations } from './call-api.ts'
import { alignColumns } from './print-overview.ts'

const COMMANDS = [
  ['login', 'signs you in with a browser, on this or another device'],
  ['logout', 'deletes the stored login'],
  ['overview [--json]', 'shows what waits for an operator'],
  ['freeze payouts [solana|base|alt] --reason "…"', 'stops payouts, on one network or on all'],
  ['unfreeze payouts [solana|base|alt] --reason "…"', 'lets them continue'],
  ['freeze wallets --reason "…"', 'stops what the wallets of agents send, mint and export'],
  ['unfreeze wallets --reason "…"', 'lets them continue'],
  ['freeze venues --reason "…"', 'stops what the venue wallets of Earn sign'],
  ['unfreeze venues --reason "…"', 'lets them continue'],
  ['freeze intake --reason "…"', 'stops new registrations and orders'],
  ['unfreeze intake --reason "…"', 'lets them continue'],
  ['read-only on|off --reason "…"', 'stops every write, or lets them continue'],
  ['approvals [--json]', 'lists what waits for a second operator'],
  ['approve <id>', 'approves a proposal and executes it'],
  ['reject <id> --reason "…"', 'rejects a proposal'],
  ['call', 'lists the operations for operators'],
  ['call <operation> field=value …', 'calls one of them'],
]

const SETTINGS = [
  ['MARKET_API_URL', 'the URL of the API'],
  ['IDP_ISSUER', 'the identity provider; for login'],
  ['ADMIN_CLIENT_ID', 'its client for this program, with the device flow; for login'],
  ['IDP_AUDIENCE', 'the audience of access tokens, as the API has it; for login'],
  ['ADMIN_SCOPES', 'the scopes to ask for; for login, default openid'],
  ['ADMIN_KEY', 'an operator’s key adm_…, to read without a login'],
]

const indented = (rows: readonly (readonly string[])[]): string[] =>
  alignColumns(rows).map((line) => `  ${line}`)

export const HELP = [
  'npm run admin -- <command>',
  '',
  'Commands:',
  ...indented(COMMANDS),
  '',
  'Settings (environment):',
  ...indented(SETTINGS),
  '',
  'Every write needs a login of the last 15 minutes. The program ends with 0 after success, with 1 after a failure,',
  'and with 2 after wrong arguments or settings.',
  '',
].join('\n')

/** The operations that `call` knows. A value that is not text is written as JSON. */
export const operationsHelp = (): string =>
  [
    'npm run admin -- call <operation> field=value …',
    '',
    ...indented(operatorOperations.map((operation) => [usageOf(operation), operation.summary])),
    '',
    FIELDS_HELP,
    '',
  ].join('\n')
