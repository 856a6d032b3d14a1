import { readFile } from 'node:fs/promises'
import { MarketError, type Operations, ReceiptError, verifyReceipt } from '@market/sdk'
import { command } from '../command.ts'
import { shortTime } from '../options.ts'
import type { Session } from '../session.ts'
import type { Printer } from '../terminal/printer.ts'
import { CommandError } from '../usage-error.ts'
import { purchaseIn } from './orders.ts'

type SignedReceipt = Operations['getReceipt']['data']
type Receipt = SignedReceipt['receipt']

const TIMEOUT_MS = 10_000

/** An order of a status URL of x402 is read with its access token. */
const readReceipt = (text: string, session: Session): Promise<SignedReceipt> => {
  const purchase = purchaseIn(text)
  return purchase === undefined
    ? session.signedIn('agent', 'user').market.getReceipt({ order_id: text })
    : session.anonymous().getPurchasedReceipt(purchase)
}

export const getReceipt = command({
  name: 'receipt get',
  summary: 'Get the signed receipt of an order',
  parameters: ['order'],
  notes: ['An order of `market hire` is named by its status URL instead of its id.'],
  examples: ['market receipt get ord_… > receipt.jws'],
  run: async ({ parameters: [order = ''] }, session) => {
    const signed = await readReceipt(order, session)
    return { json: signed, print: (printer) => printer.text(signed.jws) }
  },
})

export const verifyReceiptFile = command({
  name: 'receipt verify',
  summary: 'Verify a receipt on this machine, and show what it says',
  parameters: ['file'],
  options: {
    jwks: {
      type: 'string',
      value: 'path',
      about: 'a saved /.well-known/jwks.json of the marketplace; then nothing is sent to anybody',
    },
    issuer: {
      type: 'string',
      value: 'url',
      about: 'the marketplace that issued it; the API URL unless given',
    },
  },
  notes: [
    'The file has the text of a receipt; - reads it from stdin. The keys are those of the marketplace that you name,\nnever of one that the receipt names.',
    'Ends with 0 when the receipt is valid, and with 1 when a byte was changed or somebody else signed it.',
  ],
  examples: ['market receipt verify receipt.jws', 'market receipt verify receipt.jws --jwks jwks.json'],
  run: async ({ values, parameters: [file = ''] }, session) => {
    const { issuer = session.settings.apiUrl() } = values
    const jws = file === '-' ? await session.terminal.readInput() : await textOf(file)
    const keys =
      values.jwks === undefined
        ? await session.during('Getting the keys …', () => fetchKeys(session))
        : keysIn(await textOf(values.jwks), values.jwks)
    const receipt = await verifyReceipt(jws.trim(), { keys, issuer }).catch((error: unknown) => {
      if (!(error instanceof ReceiptError)) throw error
      throw new CommandError(error.reason, `The receipt is not valid. ${error.message}`)
    })
    return { json: { ok: true, receipt }, print: (printer) => printReceipt(printer, receipt) }
  },
})

const textOf = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError('file_unreadable', `${path} cannot be read: ${error.code ?? error.message}.`)
  })

async function fetchKeys({ settings, signal }: Session): Promise<readonly unknown[]> {
  const apiUrl = settings.apiUrl()
  const url = `${apiUrl}/.well-known/jwks.json`
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
  const response = await fetch(url, { redirect: 'error', signal: limit }).catch((cause: unknown) => {
    const message = `${apiUrl} cannot be reached. Check apiUrl and the network.`
    throw new MarketError(message, { status: 0, code: 'unreachable' }, { cause })
  })
  if (!response.ok) throw new CommandError('no_keys', `${url} sent status ${response.status}.`)
  return keysIn(await response.text(), url)
}

function keysIn(text: string, where: string): readonly unknown[] {
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown }
    if (Array.isArray(keys)) return keys
  } catch {
    // Told below.
  }
  throw new CommandError('no_keys', `${where} is not a JWK Set: an object with \`keys\`.`)
}

function printReceipt(printer: Printer, receipt: Receipt): void {
  const { order, service, buyer, agent, amounts, transfers, deliverables } = receipt
  const usd = (amount: string | null) => (amount === null ? 'not decided yet' : `${amount} USD`)
  printer.text('The receipt is valid.', 'green')
  printer.fields([
    ['order', receipt.sub],
    ['issued by', receipt.iss],
    ['issued to', receipt.issued_to],
    ['as of', shortTime(new Date(receipt.iat * 1_000).toISOString())],
    ['final', receipt.final ? 'yes' : 'no: a later receipt says more'],
    ['status', order.outcome === null ? order.status : `${order.status}, ${order.outcome}`],
    ['service', service.title],
    ['agent', `${agent.name} (${agent.id})`],
    ['buyer', [buyer.id, buyer.wallet].filter((one) => one !== null).join(', ')],
    ...(buyer.payer_proven ? [] : ([['payer', 'not proven to be the buyer']] as const)),
    ['ordered', shortTime(order.created_at)],
    ['paid at', shortTime(order.paid_at)],
    ['delivered', shortTime(order.delivered_at)],
    ['ended', shortTime(order.closed_at)],
    ['paid', usd(amounts.paid_usd)],
    ['price', usd(amounts.price_usd)],
    ['surplus', usd(amounts.surplus_usd)],
    ['agent gets', usd(amounts.agent_usd)],
    ['fee', usd(amounts.fee_usd)],
    ['refund', usd(amounts.refund_usd)],
  ])
  printer.text('')
  printer.table(
    [
      { title: 'TRANSFER' },
      { title: 'USD', align: 'right' },
      { title: 'NETWORK' },
      { title: 'AT' },
      { title: 'TRANSACTION' },
    ],
    transfers.map((one) => [
      one.kind,
      one.amount_usd,
      one.network,
      shortTime(one.at),
      one.tx_hash ?? 'not shown',
    ]),
  )
  if (deliverables.length === 0) return
  printer.text('')
  printer.table(
    [{ title: 'DELIVERED' }, { title: 'SHA-256 OF' }, { title: 'SHA-256' }],
    deliverables.flatMap(({ type, title, file_sha256, text_sha256, url_sha256 }) =>
      (
        [
          ['file', file_sha256],
          ['text', text_sha256],
          ['link', url_sha256],
        ] as const
      ).flatMap(([what, hash]) => (hash === null ? [] : [[title ?? type, what, hash]])),
    ),
  )
}
