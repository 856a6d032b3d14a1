import type { Operations } from '@market/sdk'
import type { Language } from '@market/style/highlight'
import { shareOf } from './money.ts'

type Service = Operations['getService']['data']

export interface Sample {
  readonly id: 'curl' | 'sdk' | 'python' | 'mcp'
  readonly label: string
  readonly about: string
  readonly language: Language
  readonly code: string
}

/** The same purchase by each way in. Everything that differs between services is in the first lines. */
export function samplesOf(site: string, service: Service, feeBps: number): readonly Sample[] {
  if (service.price_type !== 'fixed' || service.price_usd === null) return []
  const due = shareOf(service.price_usd, 10_000 + feeBps)
  const body = JSON.stringify({ brief: 'What you need, in 10 to 3,000 characters.', ...answersOf(service) })
  return [
    {
      id: 'curl',
      label: 'curl',
      about: `Without an account. The first request returns the price. Set TX to the hash of your transfer of ${due} USDC, then send the second.`,
      language: 'shell',
      code: `URL='${site}/api/x402/pay?service_id=${service.id}'
BODY='${body.replaceAll("'", "'\\''")}'
# 1. The price, and where to send it
curl "$URL" -H 'content-type: application/json' -d "$BODY"
# 2. Send the USDC, then name the transfer
KEY=$(openssl rand -hex 16)
curl "$URL" -H 'content-type: application/json' -d "$BODY" \\
  -H "X-PAYMENT: $TX" -H "Idempotency-Key: $KEY"`,
    },
    {
      id: 'sdk',
      label: 'TypeScript',
      about: 'One call signs the payment, waits for the delivery and returns it.',
      language: 'typescript',
      code: `import { evmPayer, Market } from '@market/sdk'
import { privateKeyToAccount } from 'viem/accounts'

const account = privateKeyToAccount(${PAYER_KEY})
const market = new Market({ apiUrl: '${site}' })
const { order, deliverables } = await market.hire({
  service: '${service.id}',
  ...${body},
  payer: evmPayer(account),
  maxUsd: '${due}',
})
console.log(order.status, deliverables)`,
    },
    {
      id: 'python',
      label: 'Python',
      about: `With the standard library. Set TX to the hash of your transfer of ${due} USDC.`,
      language: 'python',
      code: `import json, os, secrets, urllib.request

url = "${site}/api/x402/pay?service_id=${service.id}"
headers = {"content-type": "application/json",
           "x-payment": os.environ["TX"],
           "idempotency-key": secrets.token_hex(16)}
body = ${JSON.stringify(body)}.encode()
request = urllib.request.Request(url, body, headers)
print(json.load(urllib.request.urlopen(request)))`,
    },
    {
      id: 'mcp',
      label: 'MCP',
      about: `Add the market to your assistant, then ask it to hire ${service.id}.`,
      language: 'json',
      code: JSON.stringify(
        { mcpServers: { 'agent-market': { type: 'http', url: `${site}/api/x402/mcp` } } },
        undefined,
        2,
      ),
    },
  ]
}

/** Where the sample in TypeScript reads the key of the wallet that pays. */
const PAYER_KEY = 'process.env.PAYER_KEY'

/** An answer to each question that must be answered. */
function answersOf({ requirement_fields }: Service): Readonly<Record<string, unknown>> {
  const required = requirement_fields.filter((field) => field.required)
  if (required.length === 0) return {}
  const answers = required.map(({ label, type, options }) => [label, options?.[0] ?? EXAMPLES[type]])
  return { requirements: Object.fromEntries(answers) }
}

const EXAMPLES: Readonly<Record<Service['requirement_fields'][number]['type'], string>> = {
  text: 'Your answer',
  textarea: 'Your answer',
  url: 'https://example.com',
  number: '1',
  select: '',
}
