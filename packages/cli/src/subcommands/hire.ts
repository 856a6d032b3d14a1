import type { Hired, HireProgress, Operations, PaymentNetwork } from '@market/sdk'
import { type Call, command, type Options, type Result } from '../command.ts'
import { given, required } from '../options.ts'
import type { Session } from '../session.ts'
import { readPayer, readSigner } from '../settings/wallet-key.ts'
import { untilAborted } from '../terminal/interruption.ts'
import { UsageError } from '../usage-error.ts'
import { payCommand, printPayment } from './orders.ts'

const NETWORKS = ['base-mainnet', 'alt-mainnet', 'solana-mainnet']

const OPTIONS = {
  brief: {
    type: 'string',
    required: true,
    value: 'text',
    about: 'what the agent is to do; - reads it from stdin',
  },
  'max-usd': {
    type: 'string',
    value: 'usd',
    about: 'the most that it may cost with the fee, for example 5.50; needed without --account',
  },
  'wallet-file': {
    type: 'string',
    value: 'path',
    about: 'a private key or Solana keypair, instead of MARKET_WALLET_KEY',
  },
  network: { type: 'string', value: 'name', about: 'base-mainnet, alt-mainnet or solana-mainnet' },
  'solana-rpc': {
    type: 'string',
    value: 'url',
    about: 'the Solana node that a payment on Solana is built with',
  },
  answer: {
    type: 'string',
    multiple: true,
    value: 'label=text',
    about: 'an answer to a question of the service',
  },
  'idempotency-key': {
    type: 'string',
    value: 'key',
    about: 'continue this purchase instead of a second one',
  },
  'no-wait': { type: 'boolean', about: 'end when it is paid, and print the URL of the order' },
  account: { type: 'boolean', about: 'create the order with your account, and pay it with a transfer' },
} as const satisfies Options

export const hire = command({
  name: 'hire',
  summary: 'Hire an agent: pay from a wallet by x402 and wait for the delivery',
  parameters: ['service'],
  options: OPTIONS,
  notes: [
    'The wallet needs USDC and no coin for gas. Nothing is signed above --max-usd.',
    'Without an account, the printed status URL is the only way to read the order later.',
  ],
  examples: [
    'MARKET_WALLET_KEY=0x… market hire svc_… --brief "Count the words of this text." --max-usd 5.50',
    'market hire svc_… --brief "Draw a logo." --account',
  ],
  endsItself: true,
  run: async (call, session) => {
    const { values } = call
    const typed = required('brief', values.brief, 'market hire <service> --brief "…"')
    const brief = typed === '-' ? await session.terminal.readInput() : typed
    return values.account ? order(call, brief, session) : purchase(call, brief, session)
  },
})

type HireCall = Call<typeof OPTIONS>

function answersOf(texts: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (texts.length === 0) return undefined
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=')
      if (at < 1) throw new UsageError(`--answer is ${text}. Write --answer "label=text".`)
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}

async function order(
  { values, parameters: [service_id = ''] }: HireCall,
  brief: string,
  session: Session,
): Promise<Result> {
  const { market } = session.signedIn('user', 'agent')
  const created = await market.createOrder({
    service_id,
    brief,
    ...given({ requirement_answers: answersOf(values.answer) }),
  })
  return {
    json: created,
    print: (printer) => {
      printer.text(`Ordered ${created.service_title}: ${created.id} is ${created.status}.`)
      printPayment(printer, created)
      if (created.payment.length > 0) printer.next(payCommand(created))
      else printer.next(`market orders show ${created.id}`)
    },
  }
}

/** With the key before the payment: a lost terminal must not lead to a second one. */
export const payingNote = ({
  amountUsd,
  network,
  idempotencyKey,
}: Omit<Extract<HireProgress, { step: 'quoted' }>, 'step'>): string =>
  `Paying ${amountUsd} USD on ${network} …\nIf this ends early, repeat the command with --idempotency-key ${idempotencyKey}: it does not pay twice.`

/** Ends the wait after the payment. */
class PaidError extends Error {
  override readonly name = 'PaidError'
}

async function purchase(
  { values, parameters: [service = ''] }: HireCall,
  brief: string,
  session: Session,
): Promise<Result> {
  const { printer, signal } = session
  const maxUsd = required('max-usd', values['max-usd'], `market hire ${service} --brief "…" --max-usd 5.50`)
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(maxUsd))
    throw new UsageError(`--max-usd is ${maxUsd}. Write a price such as 5.50.`)
  if (values.network !== undefined && !NETWORKS.includes(values.network))
    throw new UsageError(`--network is ${values.network}. Write ${NETWORKS.join(', ')}.`)
  const payer = await readPayer(values['wallet-file'], session.environment, values['solana-rpc'])
  const enough = new AbortController()
  let paid: Extract<HireProgress, { step: 'paid' }> | undefined
  let key: string | undefined
  try {
    const hiring = session.during('Getting the price …', (progress) =>
      session.anonymous().hire({
        service,
        brief,
        payer,
        maxUsd,
        signal: AbortSignal.any([signal, enough.signal]),
        ...given({
          network: values.network as PaymentNetwork | undefined,
          idempotencyKey: values['idempotency-key'],
          requirements: answersOf(values.answer),
        }),
        onProgress: (step) => {
          if (step.step === 'quoted') {
            key = step.idempotencyKey
            printer.note(payingNote(step))
            progress.say('Paying …')
          } else if (step.step === 'paid') {
            paid = step
            printer.note(`Paid. Order ${step.orderId}\nStatus: ${step.statusUrl}`)
            progress.say('Waiting for the delivery …')
            if (values['no-wait']) enough.abort(new PaidError())
          }
        },
      }),
    )
    return delivered(await untilAborted(hiring, signal))
  } catch (error) {
    if (paid !== undefined && !signal.aborted && error instanceof PaidError) return paidOnly(paid)
    // A payment may be under way: the same key continues it.
    if (paid === undefined && key !== undefined && signal.aborted)
      printer.note(`Repeat the command with --idempotency-key ${key}: it does not pay twice.`)
    if (paid !== undefined && signal.aborted)
      printer.note(
        `The order is paid and goes on. Read it with: market orders show '${paid.statusUrl}'`,
        'plain',
      )
    throw error
  }
}

const paidOnly = ({ orderId, statusUrl }: Extract<HireProgress, { step: 'paid' }>): Result => ({
  json: { order_id: orderId, status: 'paid', status_url: statusUrl },
  print: (printer) => printer.next(`market orders show '${statusUrl}'`),
})

const delivered = ({ order: { id, status, price_usd }, deliverables, statusUrl }: Hired): Result => ({
  json: { order_id: id, status, price_usd, status_url: statusUrl, deliverables },
  print: (printer) => {
    for (const { type, title, url, content } of deliverables) {
      if (url !== null || title !== null)
        printer.text(`${title ?? type}${url === null ? '' : `: ${url}`}`, 'bold')
      if (content !== null) printer.text(content)
    }
  },
})

type PaymentNetworkField = Operations['actOnOrder']['input']['payment_network']

export const pay = command({
  name: 'pay',
  summary: 'Name the transfer that you paid an order with; it sends no money',
  parameters: ['order'],
  options: {
    tx: {
      type: 'string',
      required: true,
      value: 'hash',
      about: 'the transaction hash, or the Solana signature',
    },
    network: { type: 'string', value: 'name', about: 'needed for alt-mainnet only' },
    'wallet-file': {
      type: 'string',
      value: 'path',
      about: 'the key of the wallet that paid, instead of MARKET_WALLET_KEY',
    },
  },
  notes: [
    '`market orders show` says how much USDC to send, and where. Send it with a wallet, then name its transaction here.',
    'The wallet signs that the transfer is yours. A wallet that is linked to your account need not sign.',
    'The same transaction can be named again; it pays the order once.',
  ],
  examples: ['market pay ord_… --tx 0x… --wallet-file wallet.key'],
  run: async ({ values, parameters: [order_id = ''] }, session) => {
    const escrow_tx_hash = required('tx', values.tx, `market pay ${order_id} --tx <hash>`)
    const cosigner = await readSigner(values['wallet-file'], session.environment)
    const { market } = session.signedIn('user', 'agent')
    const payment_network = values.network as PaymentNetworkField
    const paid = await market.actOnOrder(
      { order_id, action: 'pay', escrow_tx_hash, ...given({ payment_network }) },
      given({ cosigner }),
    )
    return {
      json: paid,
      print: (printer) => {
        printer.text(
          paid.status === 'paid'
            ? `${paid.id} is paid.`
            : `${paid.id} waits until the transfer is confirmed (${paid.status}).`,
        )
        printer.next(`market orders show ${paid.id}`)
      },
    }
  },
})
