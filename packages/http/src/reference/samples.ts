import { type HttpRequest, type RequestOptions, requestOf } from '@market/contract/client'
import { hasBody, isWrite, type Operation } from '@market/contract/define'
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
  const curl = isSold ? curlPaid(baseUrl, operation, input) : curlOf(baseUrl, operation, request)
  return [
    { lang: 'shell', label: 'curl', source: curl },
    { lang: 'typescript', label: 'TypeScript', source: typescript(baseUrl, operation, request, input) },
    { lang: 'python', label: 'Python', source: python(baseUrl, operation, request) },
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
  if (operation.payment?.when === 'always') return typescriptPaid(baseUrl, request)
  const credential = credentialOf(operation)
  const isInSdk =
    operation.file === undefined &&
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
    'const { data } = await response.json()',
  ].join('\n')
}

const typescriptHeader = (value: string): string =>
  value === NEW_KEY
    ? 'crypto.randomUUID()'
    : VARIABLE.test(value)
      ? `\`${value.replace(VARIABLE, (_, name: string) => `\${${ENVIRONMENT}.${name}}`)}\``
      : typescriptOf(value)

/** A stock x402 client signs the payment and repeats the request. It pays one dollar unless it may pay more. */
const typescriptPaid = (baseUrl: string, request: HttpRequest): string =>
  [
    "import { ExactEvmScheme } from '@x402/evm/exact/client'",
    "import { wrapFetchWithPayment, x402Client } from '@x402/fetch'",
    "import type { Hex } from 'viem'",
    "import { privateKeyToAccount } from 'viem/accounts'",
    '',
    'const wallet = privateKeyToAccount(process.env.PRIVATE_KEY as Hex)',
    'const client = x402Client.fromConfig({',
    "  schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(wallet) }],",
    "  spendControls: { maxAmountPerPayment: '$10' },",
    '})',
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

function python(baseUrl: string, operation: Operation, request: HttpRequest): string {
  const isSold = operation.payment?.when === 'always'
  const headers = Object.entries(request.headers).filter(([name]) => name !== 'Content-Type')
  const lines = headers.map(([name, value]) => `        ${JSON.stringify(name)}: ${pythonHeader(value)},`)
  const body = operation.file
    ? [`    files={"${operation.file.name}": open("logo.png", "rb")},`]
    : request.body === undefined || !hasBody(operation)
      ? []
      : [`    json=${pythonOf(JSON.parse(request.body)).replaceAll('\n', '\n    ')},`]
  const modules = [
    ...(isSold || headers.some(([, value]) => VARIABLE.test(value)) ? ['import os'] : []),
    ...(headers.some(([, value]) => value === NEW_KEY) ? ['import uuid'] : []),
  ]
  const call = (more: readonly string[]) => [
    'response = requests.request(',
    `    "${request.method}",`,
    `    ${JSON.stringify(baseUrl + request.path)},`,
    ...(lines.length + more.length > 0 ? ['    headers={', ...lines, ...more, '    },'] : []),
    ...body,
    '    timeout=60,',
    ')',
  ]
  const paid = [
    '# 402: `accepts` has the price and where to send the USDC. Send it, then repeat the request.',
    'accepts = response.json()["accepts"]',
    ...call(['        "X-PAYMENT": os.environ["TX_HASH"],', '        "X-Payment-Network": "base-mainnet",']),
  ]
  return [
    ...modules,
    ...(modules.length > 0 ? [''] : []),
    'import requests',
    '',
    ...call([]),
    ...(isSold ? paid : []),
    'response.raise_for_status()',
    'print(response.json())',
  ].join('\n')
}

const pythonHeader = (value: string): string =>
  value === NEW_KEY
    ? 'str(uuid.uuid4())'
    : VARIABLE.test(value)
      ? `f"${value.replace(VARIABLE, (_, name: string) => `{os.environ['${name}']}`)}"`
      : JSON.stringify(value)
