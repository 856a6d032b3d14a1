import { type Client, newestCursor } from '@market/sdk/client'
import { queryOptions, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useEffect } from 'react'
import { isSignedIn, keyOf, useMe } from './me.ts'

/** An event of an order; without its id anything may have changed. */
type OnEvent = (orderId?: string) => void

/**
 * The events of the viewer's orders. One tab of the browser reads the stream and tells the others: whoever has the lock,
 * which passes on when that tab is closed. Returns what ends it.
 */
function followOrders(market: Client, viewer: string, onEvent: OnEvent, onFailure: () => void): () => void {
  const ended = new AbortController()
  const channel = new BroadcastChannel(`market orders ${viewer}`)
  channel.onmessage = ({ data }: MessageEvent<string | undefined>) => onEvent(data)
  const lead = async () => {
    const tell: OnEvent = (orderId) => {
      channel.postMessage(orderId)
      onEvent(orderId)
    }
    const after = await newestCursor(market, 'buyer')
    // What happened before is not in the stream.
    tell()
    for await (const { order_id } of market.events({ role: 'buyer', after, signal: ended.signal }))
      tell(order_id)
  }
  navigator.locks
    .request(channel.name, { signal: ended.signal }, lead)
    .catch(() => ended.signal.aborted || onFailure())
  return () => {
    ended.abort()
    channel.close()
  }
}

/** What an event of an order changes: of this order, and of its viewer. */
const OF_ORDER = ['order', 'messages', 'receipt'] as const
const OF_VIEWER = ['orders', 'notifications', 'me'] as const

const SAFETY_MS = 120_000
const WITHOUT_STREAM_MS = 15_000

/** Whether this tab hears of events. */
const streamQuery = queryOptions({ queryKey: ['stream'], queryFn: skipToken, initialData: true })

/** How often a page reads what it shows again in any case. The bar of every page follows the events. */
export function useLiveOrders(): number {
  const { data: hasStream } = useQuery(streamQuery)
  return hasStream ? SAFETY_MS : WITHOUT_STREAM_MS
}

/** Keeps what is shown of orders and notifications current, on every page of a viewer who is signed in. */
export function useEvents(): void {
  const { market } = useRouteContext({ from: '__root__' })
  const queryClient = useQueryClient()
  const me = useMe()
  const viewer = isSignedIn(me) ? keyOf(me) : undefined
  useEffect(() => {
    if (viewer === undefined) return
    const setStream = (hasStream: boolean) => queryClient.setQueryData(streamQuery.queryKey, hasStream)
    if (navigator.locks === undefined) return void setStream(false)
    setStream(true)
    const onEvent: OnEvent = (orderId) => {
      const of = OF_ORDER.map((key) => (orderId === undefined ? [key] : [key, orderId]))
      const all = OF_VIEWER.map((key) => [key])
      for (const queryKey of [...of, ...all]) void queryClient.invalidateQueries({ queryKey })
    }
    return followOrders(market, viewer, onEvent, () => setStream(false))
  }, [market, queryClient, viewer])
}
