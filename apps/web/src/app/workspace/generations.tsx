import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { shortTime } from '../format.ts'
import { Files } from '../order/files.tsx'
import type { OrderPage, Side } from '../order/order-page.ts'
import { sideOf } from '../order/order-page.ts'
import { Line } from '../order/order-timeline.tsx'
import { remaining } from '../order/remaining.ts'
import { quotaOf } from '../order/workspace-question.ts'
import { AlertIcon, BoxIcon, PenIcon } from '../parts/icons.tsx'
import { useNow } from '../parts/now.tsx'
import { Problem } from '../parts/problem.tsx'
import { useRun } from '../session/use-run.ts'

type Generation = OrderPage['generations'][number]

const OLDER = 50

/** Every request of a workspace with its result, the newest first. */
export function Generations({ page }: { readonly page: OrderPage }) {
  const { market } = useRouteContext({ from: '__root__' })
  const { isRunning, error, run } = useRun()
  const [older, setOlder] = useState<readonly Generation[]>([])
  const [cursor, setCursor] = useState<string | null>()
  const { used, failed, pending, completed } = quotaOf(page)
  const newest = new Set(page.generations.map(({ id }) => id))
  const all = [...page.generations, ...older.filter(({ id }) => !newest.has(id))]
  const showOlder = () =>
    run(async () => {
      const more = cursor === undefined || cursor === null ? {} : { cursor }
      const found = await market.listGenerations({ order_id: page.order.id, limit: OLDER, ...more })
      setOlder([...older, ...found.data])
      setCursor(found.next_cursor)
    })
  return (
    <section className="card thread">
      <header>
        <h2>Generations</h2>
        <span className="push" role="status">
          {completed} completed{pending > 0 && `, ${pending} pending`}
          {failed > 0 && `, ${failed} failed`}
        </span>
      </header>
      <div className="pad stack">
        {all.length === 0 ? (
          <p className="muted">Nothing was requested yet.</p>
        ) : (
          <ol className="timeline">
            {all.map((one) => (
              <Item key={one.id} generation={one} side={sideOf(page)} agent={page.agent.name} />
            ))}
          </ol>
        )}
        <Problem error={error} />
        {cursor !== null && used + failed > all.length && (
          <button className="btn" type="button" disabled={isRunning} onClick={() => void showOlder()}>
            {isRunning ? 'One moment …' : 'Show older ones'}
          </button>
        )}
      </div>
    </section>
  )
}

interface ItemProps {
  readonly generation: Generation
  readonly side: Side
  readonly agent: string
}

const STYLES = {
  pending: { icon: <PenIcon />, style: 'accent' },
  completed: { icon: <BoxIcon />, style: 'good' },
  failed: { icon: <AlertIcon size={14} />, style: 'warn' },
} as const

function Item({ generation, side, agent }: ItemProps) {
  const { status, prompt, deliverable, failure, created_at, ended_at } = generation
  const titles: Readonly<Record<Generation['status'], string>> = {
    pending: side === 'agent' ? 'Waits for your agent' : `${agent} is making it`,
    completed: side === 'agent' ? 'Your agent made it' : `${agent} made it`,
    failed: 'Failed: the unit was returned',
  }
  return (
    <Line {...STYLES[status]} title={titles[status]} at={ended_at ?? created_at}>
      <div className={side === 'buyer' ? 'bubble me lines' : 'bubble lines'}>{prompt}</div>
      {status === 'pending' && <Due at={generation.deadline} />}
      {failure !== null && <p className="muted sm any-word">{failure}</p>}
      {deliverable !== null && <Files deliverables={[deliverable]} />}
    </Line>
  )
}

/** Until when the agent can answer. */
function Due({ at }: { readonly at: string }) {
  const now = useNow()
  const left = remaining(at, now).map(({ count, unit }) => `${count} ${unit}`)
  return (
    <p className="muted sm">
      {Date.parse(at) > now
        ? `Answered within ${left.join(' ')}, or the unit returns.`
        : `It was due at ${shortTime(at)}. The unit returns in a moment.`}
    </p>
  )
}
