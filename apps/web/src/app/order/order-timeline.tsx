import type { ReactNode } from 'react'
import { counted, shortTime, usdc } from '../format.ts'
import { BoxIcon, FileIcon, LockIcon, NoteIcon, PenIcon } from '../parts/icons.tsx'
import { Network, OnChain } from '../parts/networks.tsx'
import { Files } from './files.tsx'
import { type Message, type OrderPage, type Side, sideOf } from './order-page.ts'
import { type Entry, timelineOf } from './timeline.ts'

interface OrderTimelineProps {
  readonly page: OrderPage
  readonly messages: readonly Message[]
}

/** What happened to an order, the newest first. */
export const OrderTimeline = ({ page, messages }: OrderTimelineProps) => (
  <ol className="timeline">
    {timelineOf(page, messages).map((entry) => (
      <Item key={keyOf(entry)} entry={entry} page={page} />
    ))}
  </ol>
)

const keyOf = (entry: Entry): string =>
  entry.kind === 'message'
    ? entry.message.id
    : `${entry.at} ${entry.kind} ${entry.kind === 'step' ? `${entry.step.kind} ${entry.step.action}` : ''}`

interface ItemProps {
  readonly entry: Entry
  readonly page: OrderPage
}

function Item({ entry, page }: ItemProps) {
  switch (entry.kind) {
    case 'message':
      return <MessageItem message={entry.message} side={sideOf(page)} />
    case 'delivery':
      return <DeliveryItem entry={entry} page={page} />
    case 'step':
      return entry.step.kind === 'status' ? (
        <StatusItem step={entry.step} page={page} />
      ) : (
        <MoneyItem step={entry.step} agent={page.agent.name} />
      )
  }
}

interface LineProps {
  readonly icon: ReactNode
  readonly style?: 'accent' | 'good' | 'warn'
  readonly title: string
  readonly aside?: string | undefined
  readonly at: string
  readonly children?: ReactNode
}

/** What happened, when, and what belongs to it. */
export const Line = ({ icon, style, title, aside, at, children }: LineProps) => (
  <li>
    <span className={`mark ${style ?? ''}`}>{icon}</span>
    <div className="head">
      <strong className="any-word">{title}</strong>
      {aside !== undefined && <span className="muted">{aside}</span>}
      <time dateTime={at}>{shortTime(at)}</time>
    </div>
    {children !== undefined && <div className="body stack">{children}</div>}
  </li>
)

function MessageItem({ message, side }: { readonly message: Message; readonly side: Side }) {
  const isOwn = side === (message.sender_type === 'client' ? 'buyer' : 'agent')
  return (
    <Line icon={<NoteIcon />} title={isOwn ? 'You' : message.sender_name} at={message.created_at}>
      <div className={isOwn ? 'bubble me lines' : 'bubble lines'}>{message.content}</div>
    </Line>
  )
}

interface DeliveryItemProps {
  readonly entry: Extract<Entry, { readonly kind: 'delivery' }>
  readonly page: OrderPage
}

function DeliveryItem({ entry: { delivery, files, isNewest, at }, page }: DeliveryItemProps) {
  const content = delivery !== undefined && (
    <>
      {delivery.note !== null && <div className="bubble lines">{delivery.note}</div>}
      <Files deliverables={delivery.deliverables} />
    </>
  )
  const count = counted(files, 'file')
  return (
    <Line
      icon={<BoxIcon />}
      {...(isNewest && { style: 'accent' as const })}
      title={sideOf(page) === 'agent' ? 'You delivered' : `${page.agent.name} delivered`}
      aside={isNewest ? undefined : 'replaced by a later delivery'}
      at={at}
    >
      {content === false ? (
        <span className="muted sm">{count}, no longer shown</span>
      ) : isNewest ? (
        content
      ) : (
        <details>
          <summary className="sm">Show {count}</summary>
          <div className="stack mt3">{content}</div>
        </details>
      )}
    </Line>
  )
}

type Step = OrderPage['steps'][number]

function MoneyItem({ step, agent }: { readonly step: Step; readonly agent: string }) {
  const amount = step.amount_usd === null ? '' : `${usdc(step.amount_usd)} USDC `
  const titles: Readonly<Record<string, string>> = {
    payment: `${amount}in escrow`,
    payout: step.final === true ? `${agent} was paid ${amount}` : `${amount}set aside for ${agent}`,
    refund: step.final === true ? `${amount}refunded` : `${amount}to be refunded`,
  }
  return (
    <Line icon={<LockIcon />} style="good" title={titles[step.kind] ?? step.kind} at={step.at}>
      {step.network !== null && (
        <span className="muted sm line-up wrap-ok">
          <Network name={step.network} />
          {step.tx_hash !== null && <OnChain network={step.network} kind="transaction" text={step.tx_hash} />}
          {step.final === true ? 'final' : 'not final yet'}
        </span>
      )}
    </Line>
  )
}

function StatusItem({ step: { action, by, at }, page }: { readonly step: Step; readonly page: OrderPage }) {
  const { order, agent } = page
  const side = sideOf(page)
  const who = by === side ? 'You' : by === 'buyer' ? 'The buyer' : by === 'agent' ? agent.name : 'An operator'
  const said = SAID[action ?? '']
  const title =
    by === 'market' ? (BY_ITSELF[action ?? ''] ?? 'Changed by itself') : `${who} ${said ?? action}`
  if (action === 'create')
    return (
      <Line icon={<FileIcon />} title={title} at={at}>
        <Wanted order={order} />
      </Line>
    )
  const isNewestComplaint =
    (action === 'revision' || action === 'dispute') &&
    page.steps.findLast(({ action: one }) => one === 'revision' || one === 'dispute')?.at === at
  return (
    <Line
      icon={<PenIcon />}
      {...(WARNINGS.includes(action ?? '') && { style: 'warn' as const })}
      title={title}
      at={at}
    >
      {isNewestComplaint && order.complaint !== null && (
        <div className={by === side ? 'bubble me lines' : 'bubble lines'}>{order.complaint}</div>
      )}
    </Line>
  )
}

/** What the buyer asked for. */
function Wanted({ order }: { readonly order: OrderPage['order'] }) {
  const references = [...order.reference_urls, ...order.reference_images]
  return (
    <dl className="kv left">
      {Object.entries(order.requirement_answers).map(([label, answer]) => (
        <div key={label}>
          <dt className="any-word">{label}</dt>
          <dd className="any-word">{typeof answer === 'object' ? JSON.stringify(answer) : String(answer)}</dd>
        </div>
      ))}
      {order.brief !== '' && (
        <div>
          <dt>Brief</dt>
          <dd className="any-word lines">{order.brief}</dd>
        </div>
      )}
      {references.map((url) => (
        <div key={url}>
          <dt>Reference</dt>
          <dd className="any-word">
            {URL.canParse(url) && /^https?:/.test(url) ? (
              <a href={url} target="_blank" rel="noopener noreferrer">
                {new URL(url).host}
                {new URL(url).pathname}
              </a>
            ) : (
              url
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** What somebody did, after their name. */
const SAID: Readonly<Record<string, string>> = {
  create: 'ordered',
  quote: 'named a price',
  accept: 'accepted the price',
  pay: 'paid',
  start: 'started the work',
  revision: 'asked for a revision',
  decline_revision: 'declined the revision',
  dispute: 'opened a dispute',
  approve: 'approved',
  cancel: 'cancelled',
  refund: 'refunded the payment',
  award: 'decided for the agent',
  reverse: 'decided for the buyer',
  confirm_payer: 'proved the payment',
  return_payment: 'took the payment back',
}

/** What happened by a deadline or because of a chain. */
const BY_ITSELF: Readonly<Record<string, string>> = {
  pay: 'The payment was confirmed',
  start: 'The workspace opened',
  release: 'Approved by itself: the time to decide was over',
  overdue: 'Cancelled by itself: nothing was delivered in time',
  expire: 'The price expired',
  lapse: 'The time to pay was over',
  undo: 'The chain reversed the payment',
  contest_payment: 'Another request named the same transfer',
  restore_delivery: 'The payment was confirmed again',
}

const WARNINGS: readonly string[] = ['revision', 'dispute', 'undo', 'contest_payment', 'overdue']
