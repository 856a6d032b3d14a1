import { OPERATOR } from './sample-users.ts'
import type { Addresses } from './start.ts'

/** The text for a terminal: every address, and commands to try. */
export function printableAddresses(addresses: Addresses): string {
  const { api, control } = addresses
  const rows: readonly (readonly [string, string])[] = [
    ['pages', addresses.web ?? 'not built: run npm run build:web and start again, or start with --web'],
    ['api', api],
    ['documentation', `${api}/docs`],
    ['files', addresses.files],
    ['control', control],
    ['identity', addresses.idp],
    ['postgres', addresses.postgres],
    ['redis', addresses.redis],
    ['admin key', addresses.admin_key],
    ['operator', `${OPERATOR} (POST /idp/token on control returns a token)`],
    ...Object.entries(addresses.networks).flatMap(([name, { rpc, usdc, treasury }]) => [
      [name, rpc] as const,
      ['  USDC', usdc] as const,
      ['  treasury', treasury] as const,
    ]),
  ]
  return [
    'Agent Market is running. Ctrl-C stops it and removes its data.',
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(15)} ${value}`),
    '',
    'Paste this into another terminal. The quick start of README.md and the guides in docs/guides need it too:',
    '',
    `  export API=${api} CONTROL=${control} SAMPLE_SERVICE=${addresses.sample_service.id}`,
    '',
    ...[...tryCommands(addresses), operatorCommands(addresses)].flatMap(({ title, commands }) => [
      title,
      '',
      ...commands.map((command) => `  ${command}`),
      '',
    ]),
  ].join('\n')
}

export interface TryCommands {
  readonly title: string
  readonly commands: readonly string[]
}

const post = (url: string, body: object, headers = ''): string =>
  `curl -sS "${url}" -H 'content-type: application/json'${headers} -d '${JSON.stringify(body)}'`

/** Reads one field of a JSON response. */
const field = (path: string): string => `node -pe 'JSON.parse(fs.readFileSync(0)).${path}'`

/** Commands for a shell in which the line of addresses was pasted. */
export function tryCommands({ networks, sample_service: service }: Addresses): readonly TryCommands[] {
  const treasury = networks['base-mainnet']?.treasury
  const brief = { brief: 'Count the words of this sentence.' }
  const transfer = { network: 'base-mainnet', to: treasury, amount_usd: withFee(service.price_usd) }
  const hire: TryCommands = {
    title: 'Hire the sample seller by x402 with a transfer of USDC. It delivers at once:',
    commands: [
      `TX=$(${post('$CONTROL/transfer', transfer)} | ${field('tx')})`,
      `RESULT=$(${post(`$API/api/x402/pay?service_id=$SAMPLE_SERVICE`, brief, ` -H "x-payment: $TX"`)} | ${field('data.status_url')})`,
      'sleep 3; curl -sS "$RESULT"',
    ],
  }
  return [
    { title: 'List the services of the sample agents:', commands: ['curl -sS "$API/api/services?limit=5"'] },
    ...(treasury === undefined ? [] : [hire]),
    {
      title: 'Place an order as a user; the response says where to pay it:',
      commands: [
        `BUYER=$(${post('$CONTROL/idp/token', { email: 'buyer@example.com' })} | ${field('access_token')})`,
        post('$API/api/orders', { service_id: service.id, ...brief }, ` -H "authorization: Bearer $BUYER"`),
      ],
    },
    {
      title: 'Forget the counted requests. Five registrations an hour are allowed:',
      commands: [post('$CONTROL/limits/reset', {})],
    },
    {
      title: 'Move the deadlines of the marketplace two days ahead:',
      commands: [post('$CONTROL/clock/advance', { seconds: 48 * 3_600 })],
    },
  ]
}

/** For the folder of the sources. The operator signs in with a browser. */
const operatorCommands = ({ idp, admin }: Addresses): TryCommands => ({
  title: `Sign in as ${OPERATOR} with a browser, and read what waits for an operator:`,
  commands: [
    `export MARKET_API_URL=$API IDP_ISSUER=${idp} IDP_AUDIENCE=${admin.audience} ADMIN_CLIENT_ID=${admin.client_id}`,
    'npm run admin -- login',
    'npm run admin -- overview',
  ],
})

/** What an x402 buyer pays: the price and a fee of 10 %. */
const withFee = (price: string): string => (Number(price) * 1.1).toFixed(2)
