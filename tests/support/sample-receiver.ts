import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { encodePaymentRequiredHeader } from '@x402/core/http'
import type { PaymentRequiredV1 } from '@x402/core/schemas'
import type { PaymentRequired } from '@x402/core/types'

/** Records the requests of the code samples. Each sample has its own server, so the samples can run at once. */

interface Received {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Those that the contract defines. */
  readonly headers: Readonly<Record<string, string>>
  /** Parsed JSON, the files of a form, or undefined. */
  readonly body: unknown
}

export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  readonly close: () => void
}

const OURS =
  /^(authorization|idempotency-key|payment-signature|x-payment|x-payment-network|x-payment-claim|x-market-.*|content-type)$/

/** With `sold`, the response to a request without a payment is a 402 of that x402 version. */
export async function startReceiver(sold?: 1 | 2): Promise<Receiver> {
  const received: Received[] = []
  const server: Server = createServer(async (request, response) => {
    received.push(await read(request))
    const isPaid = 'x-payment' in request.headers || 'payment-signature' in request.headers
    response.setHeader('content-type', 'application/json')
    if (sold === undefined || isPaid) return response.end('{}')
    if (sold === 2) response.setHeader('PAYMENT-REQUIRED', encodePaymentRequiredHeader(REQUIRED))
    response.statusCode = 402
    return response.end(JSON.stringify(sold === 2 ? { accepts: REQUIRED.accepts } : REQUIRED_V1))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function read(request: IncomingMessage): Promise<Received> {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => OURS.test(name) && name !== 'x-market-client'),
  ) as Record<string, string>
  const { 'content-type': type = '' } = headers
  const bytes = await buffer(request)
  const { method = '', url: path = '' } = request
  if (!type.startsWith('multipart/form-data;'))
    return { method, path, headers, body: bytes.length === 0 ? undefined : JSON.parse(String(bytes)) }
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  const files = [...form].map(async ([field, file]) =>
    typeof file === 'string' ? { field, file } : { field, name: file.name, text: await file.text() },
  )
  return {
    ...{ method, path },
    headers: { ...headers, 'content-type': 'multipart/form-data' },
    body: await Promise.all(files),
  }
}

const TERMS = {
  scheme: 'exact',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x52908400098527886E0F7030069857D2E4169EE7',
  maxTimeoutSeconds: 300,
  extra: { name: 'USD Coin', version: '2' },
}
const AMOUNT = '5500000'
const RESOURCE = { description: 'A service', mimeType: 'application/json' }
const URL_OF_RESOURCE = 'https://market.example/api/x402/pay'

const REQUIRED: PaymentRequired = {
  x402Version: 2,
  resource: { ...RESOURCE, url: URL_OF_RESOURCE },
  accepts: [{ ...TERMS, network: 'eip155:8453', amount: AMOUNT }],
}
const REQUIRED_V1: PaymentRequiredV1 = {
  x402Version: 1,
  accepts: [{ ...TERMS, ...RESOURCE, resource: URL_OF_RESOURCE, network: 'base', maxAmountRequired: AMOUNT }],
}
