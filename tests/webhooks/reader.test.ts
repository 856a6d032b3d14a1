import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { emit } from '@market/core/events'
import { connect } from '@market/database/connect'
import { type Db, sqlStateOf, type Tx, transact } from '@market/database/transact'
import { systemClock } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { TIMEOUT_FACTOR } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'

const WRITERS = 50
const TRANSACTIONS = 8
const AGENTS = 10

let market: Market
let writersDb: Db
beforeAll(async () => {
  market = await startMarket()
  writersDb = connect({ url: market.database.url, maxConnections: WRITERS, timeoutFactor: TIMEOUT_FACTOR })
})
afterAll(async () => {
  await writersDb.destroy()
  await market.stop()
})

interface Written {
  readonly agentId: string
  readonly seq: bigint
  readonly content: string
}

class RolledBack extends Error {}

/** Lock and statement timeouts: the transaction is rolled back. */
const TIMEOUTS = new Set(['55P03', '57014'])

const emitMessage = (tx: Tx, agentId: string, content: string) =>
  emit({ clock: systemClock }, tx, {
    agentId: agentId as AgentId,
    event: 'order.message',
    data: { sender_type: 'client', sender_name: 'A Client', content },
  })

/** Emits one or two events for one or two agents, with random delays; one transaction in four is rolled back. */
async function writeSome(agentIds: readonly string[], name: string): Promise<Written[]> {
  const chosen = new Set([randomInt(AGENTS), ...(randomInt(5) === 0 ? [randomInt(AGENTS)] : [])])
  try {
    return await transact(writersDb, async (tx) => {
      const written: Written[] = []
      await wait(randomInt(10))
      for (const agentId of agentIds.filter((_, at) => chosen.has(at))) {
        for (let n = 0; n <= randomInt(2); n++) {
          const content = `${name} ${n}`
          written.push({ agentId, content, seq: await emitMessage(tx, agentId, content) })
        }
      }
      await wait(randomInt(15))
      if (randomInt(4) === 0) throw new RolledBack()
      return written
    })
  } catch (error) {
    if (error instanceof RolledBack || TIMEOUTS.has(sqlStateOf(error) ?? '')) return []
    throw error
  }
}

/** Reads pages of random size until no event is left after the writers are done. */
async function readAll(
  bearer: string,
  isDone: () => boolean,
): Promise<{ cursor: string; content: string }[]> {
  const read: { cursor: string; content: string }[] = []
  for (let after = '0'; ; ) {
    const wasDone = isDone()
    const limit = randomInt(1, 101)
    const { body } = await market.client().get(`/api/events?after=${after}&limit=${limit}`, { bearer })
    for (const event of body.data) read.push({ cursor: event.cursor, content: event.data.content })
    if (body.data.length === 0 && wasDone) return read
    after = body.next_cursor ?? ''
    await wait(randomInt(5))
  }
}

test('GET /api/events: with overlapping transactions a reader gets every committed event once and no rolled-back one', async () => {
  const agents = await Promise.all(Array.from({ length: AGENTS }, () => makeAgent(market)))
  const inOrder = agents.map(({ id }) => id).toSorted()
  let done = false
  const readers = Promise.all(agents.map(({ apiKey }) => readAll(apiKey, () => done)))
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const all: Written[] = []
    for (let n = 0; n < TRANSACTIONS; n++) all.push(...(await writeSome(inOrder, `${writer}.${n}`)))
    return all
  })
  const written = (
    await Promise.all(writers).finally(() => {
      done = true
    })
  ).flat()
  const read = await readers
  expect(written.length).toBeGreaterThan((WRITERS * TRANSACTIONS) / 2)
  for (const [index, { id }] of agents.entries()) {
    const own = written.filter(({ agentId }) => agentId === id).toSorted((a, b) => Number(a.seq - b.seq))
    expect(read[index]).toEqual(own.map(({ seq, content }) => ({ cursor: seq.toString(), content })))
    expect(own.map(({ seq }) => Number(seq))).toEqual(Array.from(own, (_, n) => n + 1))
  }
})
