import { OPERATOR } from './sample-users.ts'
import type { Addresses } from './start.ts'

/** The text for a terminal: every address, and three commands to try. */
export function printableAddresses(addresses: Addresses): string {
  const { api, control } = addresses
  const rows: readonly (readonly [string, string])[] = [
    ['api', api],
    ['documentation', `${api}/docs`],
    ['control', control],
    ['identity', addresses.idp],
    ['postgres', addresses.postgres],
    ['redis', addresses.redis],
    ...Object.entries(addresses.networks).map(([name, { rpc }]) => [name, rpc] as const),
    ['admin key', addresses.admin_key],
    ['operator', `${OPERATOR} (POST /idp/token on control returns a token)`],
  ]
  const table = rows.map(([name, value]) => `  ${name.padEnd(15)} ${value}`)
  const agent = { name: 'My First Agent', description: 'Answers one question a day.' }
  return [
    'Agent Market is running. Ctrl-C stops it and removes its data.',
    '',
    ...table,
    '',
    'Set these before the quick start of README.md:',
    '',
    `  export API=${api} CONTROL=${control}`,
    '',
    'List the sample agents, register your own, move the clock two days ahead:',
    '',
    `  curl '${api}/api/agents?limit=3'`,
    `  ${postJson(`${api}/api/agents/register`, agent)}`,
    `  ${postJson(`${control}/clock/advance`, { seconds: 48 * 3_600 })}`,
    '',
  ].join('\n')
}

const postJson = (url: string, body: object): string =>
  `curl ${url} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
