import { type HttpRequest, type RequestOptions, requestOf } from '@market/contract/client'
import { isWrite, type Operation } from '@market/contract/define'
import { pythonOf, shellOf, typescriptOf } from './code.ts'
import { exampleInput } from './examples.ts'

interface CodeSample {
  readonly lang: string
  readonly label: string
  readonly source: string
}

/** Where samples in TypeScript read settings. */
const ENVIRONMENT = 'process.env'

/** The environment variable of each credential, in samples. */
const CREDENTIALS = {
  agent: 'MARKET_API_KEY',
  admin_key: 'ADMIN_KEY',
  user: 'ACCESS_TOKEN',
  admin: 'ACCESS_TOKEN',
}

/** The variable of the credential that a sample sends. Operations for everybody and for wallets only send none. */
function credentialOf({ callers }: Operation): string | undefined {
  if (callers.includes('anonymous')) return undefined
  const kinds = ['agent', 'admin_key', 'user', 'admin'] as const
  const kind = kinds.find((one) => callers.includes(one))
  return kind && CREDENTIALS[kind]
}

/** What a wallet signed. The values stand for those of GET /api/auth/message. */
const SIGNED = {
  wallet: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
  signature: 'the signature of the text of GET /api/auth/message',
  signedAtMs: 1_794_784_877_443,
  chain: undefined,
}

const NEW_KEY = '$(openssl rand -hex 16)'

/** What the sample of an operation sends beside its input. Variables of the shell stand for secrets. */
export function sampleOptions(operation: Operation): RequestOptions {
  const credential = credentialOf(operation)
  const isSigned = credential === undefined && operation.callers[0] === 'wallet'
  const isRepeatable = isWrite(operation) && operation.method === 'POST'
  return {
    ...(credential !== undefined && { bearer: `$${credential}` }),
    ...(isSigned && { wallet: SIGNED }),
    ...(isRepeatable && { idempotencyKey: NEW_KEY }),
  }
}

const PAYMENT = { payment: '$TX_HASH', network: 'base-mainnet' }

/** The second request of a purchase names the transfer that pays. */
export const paidOptions: RequestOptions = { payment: PAYMENT, idempotencyKey: NEW_KEY }

export function codeSamples(baseUrl: string, operation: Operation): CodeSample[] {
  const input = exampleInput(operation)
  const isSold = operation.payment?.when === 'always'
  const request = requestOf(operation, input, sampleOptions(operation))
  // The first request gets the price, the second names the transfer.
  const bought = [requestOf(operation, input), requestOf(operation, input, paidOptions)]
  const curl = isSold ? curlPaid(baseUrl, operation, input) : curlOf(baseUrl, operation, request)
  return [
    { lang: 'shell', label: 'curl', source: curl },
    { lang: 'typescript', label: 'TypeScript', source: typescript(baseUrl, operation, request, input) },
    { lang: 'python', label: 'Python', source: python(baseUrl, operation, isSold ? bought : [request]) },
    ...(operation.payment && !isSold
      ? [{ lang: 'shell', label: 'curl, paid by x402', source: curlPaid(baseUrl, operation, input) }]
      : []),
  ]
}

const wordOf = (header: string): string => `"${header.replaceAll('"', '\\"')}"`

function curlOf(baseUrl: string, { file }: Operation, request: HttpRequest, options = ''): string {
  const headers = Object.entries(request.headers).filter(([name]) => !file || name !== 'Content-Type')
  const body = file
    ? [`-F '${file.name}=@logo.png'`]
    : request.body === undefined
      ? []
      : [`-d ${shellOf(JSON.stringify(JSON.parse(request.body), null, 2))}`]
  return [
    `curl ${options}${request.method === 'GET' ? '' : `-X ${request.method} `}${shellOf(baseUrl + request.path)}`,
    ...headers.map(([name, value]) => `-H ${wordOf(`${name}: ${value}`)}`),
    ...body,
  ].join(' \\\n  ')
}

/** A purchase has two requests: the first gets the price, the second names the transfer. */
function curlPaid(baseUrl: string, operation: Operation, input: Readonly<Record<string, unknown>>): string {
  const sold = {
    ...operation,
    ...(operation.payment?.when === 'requested' && { path: `${operation.path}?pay=x402` }),
  }
  return [
    '# 1. The response is 402: `accepts` has the price and where to send the USDC.',
    curlOf(baseUrl, sold, requestOf(sold, input), '-i '),
    '',
    '# 2. Send the USDC, then the same request with the hash of the transaction.',
    curlOf(baseUrl, sold, requestOf(sold, input, paidOptions)),
  ].join('\n')
}

const VARIABLE = /\$([A-Z_]+)/

function typescript(
  baseUrl: string,
  operation: Operation,
  request: HttpRequest,
  input: Readonly<Record<string, unknown>>,
): string {
  if (operation.payment?.when === 'always') return typescriptPaid(baseUrl, operation.payment.version, request)
  const credential = credentialOf(operation)
  const isInSdk =
    operation.file === undefined &&
    !isOtherRoute(operation) &&
    request.body?.includes('wallet_sig') !== true &&
    (credential === undefined || credential === CREDENTIALS.agent)
  if (!isInSdk) return typescriptFetch(baseUrl, operation, request)
  const key = credential === undefined ? '' : `, apiKey: ${ENVIRONMENT}.${credential}`
  const argument = Object.keys(input).length === 0 ? '' : typescriptOf(input)
  return [
    "import { Market } from '@market/sdk'",
    '',
    `const market = new Market({ apiUrl: ${typescriptOf(baseUrl)}${key} })`,
    `const result = await market.${operation.id}(${argument})`,
  ].join('\n')
}

/** The SDK calls an operation at its own route only. */
const isOtherRoute = ({ alsoAt = [], method, path }: Operation): boolean =>
  alsoAt.some((route) => route.method === method && route.path === path)

function typescriptFetch(baseUrl: string, operation: Operation, request: HttpRequest): string {
  const { file } = operation
  const headers = Object.entries(request.headers)
    .filter(([name]) => !file || name !== 'Content-Type')
    .map(([name, value]) => `    ${typescriptOf(name)}: ${typescriptHeader(value)},`)
  const form = file && [
    "import { openAsBlob } from 'node:fs'",
    '',
    'const form = new FormData()',
    `form.append('${file.name}', await openAsBlob('logo.png'), 'logo.png')`,
  ]
  const body = file
    ? ['  body: form,']
    : request.body === undefined
      ? []
      : [`  body: JSON.stringify(${typescriptOf(JSON.parse(request.body)).replaceAll('\n', '\n  ')}),`]
  return [
    ...(form ?? []),
    `const response = await fetch(${typescriptOf(baseUrl + request.path)}, {`,
    `  method: '${request.method}',`,
    ...(headers.length > 0 ? ['  headers: {', ...headers, '  },'] : []),
    ...body,
    '})',
    'const result = await response.json()',
  ].join('\n')
}

const typescriptHeader = (value: string): string =>
  value === NEW_KEY
    ? 'crypto.randomUUID()'
    : VARIABLE.test(value)
      ? `\`${value.replace(VARIABLE, (_, name: string) => `\${${ENVIRONMENT}.${name}}`)}\``
      : typescriptOf(value)

/** The module and the call of a stock x402 client that pay on Base, by version of the protocol. */
const X402 = {
  1: [
    "import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'",
    "registerV1('base', new ExactEvmSchemeV1(wallet))",
  ],
  2: [
    "import { ExactEvmScheme } from '@x402/evm/exact/client'",
    "register('eip155:8453', new ExactEvmScheme(wallet))",
  ],
} as const

/** The client signs the payment and repeats the request. It pays one dollar unless it may pay more. */
const typescriptPaid = (baseUrl: string, version: 1 | 2, request: HttpRequest): string =>
  [
    X402[version][0],
    "import { wrapFetchWithPayment, x402Client } from '@x402/fetch'",
    "import type { Hex } from 'viem'",
    "import { privateKeyToAccount } from 'viem/accounts'",
    '',
    `const wallet = privateKeyToAccount(${ENVIRONMENT}.PRIVATE_KEY as Hex)`,
    'const client = new x402Client()',
    `  .${X402[version][1]}`,
    "  .setSpendControls({ maxAmountPerPayment: '$10' })",
    '// Gets the 402, signs the payment and sends the request again.',
    'const pay = wrapFetchWithPayment(fetch, client)',
    `const response = await pay(${typescriptOf(baseUrl + request.path)}, {`,
    `  method: '${request.method}',`,
    ...(request.body === undefined
      ? []
      : [
          "  headers: { 'Content-Type': 'application/json' },",
          `  body: JSON.stringify(${typescriptOf(JSON.parse(request.body)).replaceAll('\n', '\n  ')}),`,
        ]),
    '})',
    'const order = await response.json()',
  ].join('\n')

const PAY = [
  '# 402: `accepts` has the price and where to send the USDC. Send it, then repeat the request.',
  'accepts = response.json()["accepts"]',
]

/** A program that sends the requests and prints the last response. */
function python(baseUrl: string, operation: Operation, requests: readonly HttpRequest[]): string {
  const values = requests.flatMap(({ headers }) => Object.values(headers))
  const modules = [
    ...(values.some((value) => VARIABLE.test(value)) ? ['import os'] : []),
    ...(values.includes(NEW_KEY) ? ['import uuid'] : []),
  ]
  return [
    ...modules,
    ...(modules.length > 0 ? [''] : []),
    'import requests',
    '',
    ...requests.flatMap((request, index) => [
      ...(index > 0 ? PAY : []),
      ...pythonCall(baseUrl, operation, request),
    ]),
    'response.raise_for_status()',
    'print(response.json())',
  ].join('\n')
}

function pythonCall(baseUrl: string, { file }: Operation, request: HttpRequest): string[] {
  // The module sets the type of a JSON body and of a form.
  const headers = Object.entries(request.headers)
    .filter(([name]) => name !== 'Content-Type')
    .map(([name, value]) => `        ${JSON.stringify(name)}: ${pythonHeader(value)},`)
  const body = file
    ? [`    files={"${file.name}": open("logo.png", "rb")},`]
    : request.body === undefined
      ? []
      : [`    json=${pythonOf(JSON.parse(request.body)).replaceAll('\n', '\n    ')},`]
  return [
    'response = requests.request(',
    `    "${request.method}",`,
    `    ${JSON.stringify(baseUrl + request.path)},`,
    ...(headers.length > 0 ? ['    headers={', ...headers, '    },'] : []),
    ...body,
    '    timeout=60,',
    ')',
  ]
}

function pythonHeader(value: string): string {
  if (value === NEW_KEY) return 'str(uuid.uuid4())'
  const [variable, name] = VARIABLE.exec(value) ?? []
  if (variable === undefined) return JSON.stringify(value)
  return variable === value
    ? `os.environ["${name}"]`
    : `f"${value.replace(variable, `{os.environ['${name}']}`)}"`
}
