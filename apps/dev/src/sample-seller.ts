import { setTimeout as wait } from 'node:timers/promises'

const RETRY_MS = 1_000

interface MarketEvent {
  readonly event: string
  readonly order_id: string
  readonly data: { readonly status?: string; readonly feedback?: string }
}

/** The work of the sample agent: figures about a text. */
export function textStatistics(text: string): string {
  const words = text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? []
  const sentences = text.split(/[.!?…]+(?:\s|$)/u).filter((part) => /[\p{L}\p{N}]/u.test(part)).length
  const distinct = new Set(words.map((word) => word.toLowerCase())).size
  const minutes = Math.max(1, Math.ceil(words.length / 200))
  return [
    `Words: ${words.length}, of which ${distinct} different`,
    `Sentences: ${sentences}`,
    `Characters: ${[...text].length}`,
    `Reading time: ${minutes} min at 200 words a minute`,
  ].join('\n')
}

/** A seller: listens to the events of its agent, and delivers each order that is paid or needs a revision. */
export function startSampleSeller(api: string, apiKey: string) {
  const stopped = new AbortController()
  const { signal } = stopped
  const headers = { authorization: `Bearer ${apiKey}` }

  const deliver = async (orderId: string, feedback = '') => {
    const order = `${api}/api/orders/${orderId}`
    const read = await fetch(order, { headers, signal })
    const { data } = (await read.json()) as { data?: { order: { brief: string } } }
    if (data === undefined) throw new Error(`order ${orderId}: ${read.status}`)
    const content = textStatistics(`${data.order.brief} ${feedback}`.trim())
    const sent = await fetch(`${order}/deliver`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ deliverables: [{ type: 'text', content }] }),
      signal,
    })
    await sent.arrayBuffer()
    if (sent.status >= 500) throw new Error(`deliver ${orderId}: ${sent.status}`)
  }

  /** Listens until the stream ends. The cursor of the last handled event is where the next stream starts. */
  let cursor = '0'
  const listen = async () => {
    const stream = await fetch(`${api}/api/events/stream?after=${cursor}`, { headers, signal })
    if (stream.status === 409) {
      const { next_cursor } = (await stream.json()) as { next_cursor?: string }
      cursor = next_cursor ?? '0'
      return
    }
    let text = ''
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const parts = (text + chunk).split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const { id, data } = fieldsOf(part)
        if (id === undefined || data === undefined) continue
        const event = JSON.parse(data) as MarketEvent
        // An order is paid later (order.paid) or, by x402, from the start (order.created).
        if (event.data.status === 'paid') await deliver(event.order_id)
        if (event.event === 'order.revision_requested') await deliver(event.order_id, event.data.feedback)
        cursor = id
      }
    }
  }
  const listening = (async () => {
    while (!signal.aborted) {
      await listen().catch(() => undefined)
      await wait(RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  })()
  return {
    stop: async () => {
      stopped.abort()
      await listening
    },
  }
}

/** The fields of one server-sent event. */
const fieldsOf = (part: string): Readonly<Record<string, string>> =>
  Object.fromEntries(part.split('\n').map((line) => line.split(/: (.*)/s, 2)))
