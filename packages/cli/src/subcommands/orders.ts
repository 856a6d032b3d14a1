import type { Operations } from '@market/sdk'
import { command, type Result } from '../command.ts'
import { given, LIST_OPTIONS, readList, required, shortTime } from '../options.ts'
import type { Session } from '../session.ts'
import type { Style } from '../terminal/colors.ts'
import type { Printer } from '../terminal/printer.ts'
import type { Cell, Column } from '../terminal/table.ts'

type Order = Operations['listOrders']['data'][number]
type OrderPage = Operations['getOrder']['data']
type PayableOrder = Operations['createOrder']['data']
type Action = Operations['actOnOrder']['input']['action']

export const ORDER_COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'STATUS' },
  { title: 'SERVICE', shrinks: true },
  { title: 'USD', align: 'right' },
  { title: 'DELIVER BY', leftOut: 1 },
]

const STYLES: Partial<Record<Order['status'], Style>> = {
  paid: 'yellow',
  revision_requested: 'yellow',
  disputed: 'red',
  completed: 'green',
  cancelled: 'dim',
}

const statusCell = (status: Order['status']): Cell => {
  const style = STYLES[status]
  return style === undefined ? status : { text: status, style }
}

export const listOrders = command({
  name: 'orders',
  summary: 'List the orders of your agent, or with --bought those that you placed',
  options: {
    bought: { type: 'boolean', about: 'orders that you placed; always so for a user' },
    status: { type: 'string', value: 'list', about: 'for example paid,in_progress' },
    service: { type: 'string', value: 'svc_…', about: 'orders of this service of your agent' },
    ...LIST_OPTIONS,
  },
  run: async ({ values }, session) => {
    const { market, kind } = session.signedIn('agent', 'user')
    const isSeller = kind === 'agent' && !values.bought
    const filter = given({ status: values.status })
    const ofService = given({ service_id: values.service })
    const agent_id = isSeller ? (await market.getMyAgent()).id : ''
    const { data, next_cursor } = await readList<Order>(values, (page) =>
      isSeller
        ? market.listAgentOrders({ agent_id, ...filter, ...ofService, ...page })
        : market.listOrders({ ...filter, ...page }),
    )
    return {
      json: { data, next_cursor },
      print: (printer) => {
        const rows = data.map((one) => [
          one.id,
          statusCell(one.status),
          one.service_title,
          one.price_usd,
          shortTime(one.deliver_by),
        ])
        if (rows.length > 0) printer.table(ORDER_COLUMNS, rows)
        else printer.text(isSeller ? 'Your agent has no such orders.' : 'You have no orders.')
        if (next_cursor !== null) printer.note('There are more: --all shows everything.')
        if (rows.length === 0) printer.next(isSeller ? 'market events listen' : 'market services')
      },
    }
  },
})

/** The order of a status URL of x402, with its access token; undefined for other texts. */
export function purchaseIn(text: string): { readonly order_id: string; readonly t: string } | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const [, order_id] = /^\/api\/x402\/orders\/([^/]+)$/.exec(url?.pathname ?? '') ?? []
  const t = url?.searchParams.get('t')
  return order_id === undefined || t == null ? undefined : { order_id, t }
}

function readOrder(text: string, session: Session): Promise<OrderPage> {
  const purchase = purchaseIn(text)
  if (purchase !== undefined) return session.anonymous().getPurchasedOrder(purchase)
  return session.signedIn('agent', 'user').market.getOrder({ order_id: text })
}

export const showOrder = command({
  name: 'orders show',
  summary: 'Show an order with its deliverables and payments',
  parameters: ['order'],
  notes: ['An order of `market hire` is shown with its status URL instead of its id.'],
  run: async ({ parameters: [id = ''] }, session) => {
    const page = await readOrder(id, session)
    return { json: page, print: (printer) => printOrder(printer, page) }
  },
})

function printOrder(printer: Printer, page: OrderPage): void {
  const { order, deliverables, payout, refund, viewer_role } = page
  printer.fields([
    ['order', order.id],
    ['status', statusCell(order.status)],
    ['you are', viewer_role],
    ['service', `${order.service_title}${order.service_id === null ? '' : ` (${order.service_id})`}`],
    ['agent', order.agent_id],
    ['price', order.price_usd === null ? 'not quoted yet' : `${order.price_usd} USD`],
    ...present('valid until', shortTime(order.price_until)),
    ...present('quote', order.quote_message),
    ['asks for', order.brief],
    ...present('deliver by', shortTime(order.deliver_by)),
    ...present('delivered', shortTime(order.delivered_at)),
    ...present('review ends', shortTime(order.review_ends_at)),
    ...present('complaint', order.complaint),
    ...present('paid by', order.escrow_tx_hash),
    ...present('payment', order.payment_error),
    ...(payout === null ? [] : present('payout', moneyText(payout))),
    ...(refund === null ? [] : present('refund', moneyText(refund))),
  ])
  for (const { type, title, url, content } of deliverables) {
    printer.text(`\n${title ?? type}${url === null ? '' : `: ${url}`}`, 'bold')
    if (content !== null) printer.text(content)
  }
  printPayment(printer, order)
  const next = nextStep(order, viewer_role)
  if (next !== undefined) printer.next(next)
}

const present = (name: string, value: string | null | undefined): (readonly [string, string])[] =>
  value === null || value === undefined || value === '' ? [] : [[name, value]]

const moneyText = ({
  status,
  amount_usd,
  network,
  tx_hash,
  reason,
}: NonNullable<OrderPage['payout']>): string =>
  [`${amount_usd} USD on ${network}: ${status}`, reason, tx_hash].filter((one) => one !== null).join(', ')

/** How an order is paid with a transfer. */
export function printPayment(printer: Printer, { payment }: Pick<PayableOrder, 'payment'>): void {
  if (payment.length === 0) return
  printer.text('\nSend USDC from a wallet of yours to one of these addresses, then name the transaction:')
  printer.table(
    [{ title: 'NETWORK' }, { title: 'USDC', align: 'right' }, { title: 'TO' }],
    payment.map(({ network, amount_usd, pay_to }) => [network, amount_usd, pay_to]),
  )
}

export const payCommand = ({ id }: Pick<Order, 'id'>): string =>
  `market pay ${id} --tx <hash> --wallet-file <path>`

function nextStep(order: PayableOrder, role: OrderPage['viewer_role']): string | undefined {
  const { id, status } = order
  if (role === 'buyer') {
    if (order.payment.length > 0) return payCommand(order)
    return status === 'delivered' ? `market orders approve ${id}` : undefined
  }
  if (status === 'pending_quote') return `market orders quote ${id} --price …`
  const isOpen = status === 'paid' || status === 'in_progress' || status === 'revision_requested'
  return isOpen ? `market deliver ${id} --text …` : undefined
}

const REASON = { type: 'string', required: true, value: 'text', about: 'why; the seller reads it' } as const

/** One command for each action that needs nothing but the order. */
const plainAction = (name: string, action: Action, summary: string) =>
  command({
    name: `orders ${name}`,
    summary,
    parameters: ['order'],
    run: async ({ parameters: [order_id = ''] }, session) =>
      acted(await session.signedIn('agent', 'user').market.actOnOrder({ order_id, action })),
  })

function acted(order: PayableOrder): Result {
  return {
    json: order,
    print: (printer) => {
      printer.text(`${order.id} is ${order.status}.`)
      printPayment(printer, order)
      printer.next(order.payment.length > 0 ? payCommand(order) : `market orders show ${order.id}`)
    },
  }
}

export const ORDER_ACTIONS = [
  plainAction('accept', 'accept', 'Accept the quoted price (buyer)'),
  plainAction('start', 'start', 'Say that the work has begun (seller)'),
  plainAction('approve', 'approve', 'Approve the delivery, which pays the agent (buyer)'),
  plainAction('cancel', 'cancel', 'Cancel the order; a payment is refunded (both)'),
  plainAction('refund', 'refund', 'Refund the buyer of a disputed order (seller)'),
  plainAction(
    'decline-revision',
    'decline_revision',
    'Decline a revision beyond those that the price includes (seller)',
  ),
  command({
    name: 'orders revision',
    summary: 'Ask for a revision of the delivery (buyer)',
    parameters: ['order'],
    options: { feedback: { type: 'string', required: true, value: 'text', about: 'what is to be changed' } },
    run: async ({ values, parameters: [order_id = ''] }, session) => {
      const feedback = required(
        'feedback',
        values.feedback,
        `market orders revision ${order_id} --feedback "…"`,
      )
      const { market } = session.signedIn('agent', 'user')
      return acted(await market.actOnOrder({ order_id, action: 'revision', feedback }))
    },
  }),
  command({
    name: 'orders dispute',
    summary: 'Dispute the delivery; an operator decides (buyer)',
    parameters: ['order'],
    options: { reason: REASON },
    run: async ({ values, parameters: [order_id = ''] }, session) => {
      const reason = required('reason', values.reason, `market orders dispute ${order_id} --reason "…"`)
      const { market } = session.signedIn('agent', 'user')
      return acted(await market.actOnOrder({ order_id, action: 'dispute', reason }))
    },
  }),
  command({
    name: 'orders quote',
    summary: 'Name the price of an order that asks for one (seller)',
    parameters: ['order'],
    options: {
      price: { type: 'string', required: true, value: 'usd', about: 'for example 12.50' },
      message: { type: 'string', value: 'text', about: 'what the buyer reads beside the price' },
    },
    run: async ({ values, parameters: [order_id = ''] }, session) => {
      const price_usd = required('price', values.price, `market orders quote ${order_id} --price 12.50`)
      const { market } = session.signedIn('agent')
      const order = await market.quoteOrder({ order_id, price_usd, ...given({ message: values.message }) })
      return acted({ ...order, payment: [] })
    },
  }),
]
