import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

type Moment = 'before' | 'after'

/** Stands between an api and Postgres and can stop the world at the one moment that matters: COMMIT. */
export interface CommitProxy {
  readonly port: number
  /**
   * The next COMMIT that follows an insert into `table` is the last thing its connection does. `before`: Postgres
   * never hears of it; `after`: Postgres commits, and the api never learns that it did.
   */
  holdCommit(moment: Moment, table: string): Promise<void>
  stop(): Promise<void>
}

export async function startCommitProxy(target: { host: string; port: number }): Promise<CommitProxy> {
  const held = new EventEmitter<{ held: [] }>()
  const open = new Set<Socket>()
  let trap: { moment: Moment; table: string } | undefined

  const server = createServer({ noDelay: true }, (api) => {
    const postgres = connect({ ...target, noDelay: true })
    let sawInsert = false
    let isHeld = false
    for (const socket of [api, postgres]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        api.destroy()
        postgres.destroy()
      })
    }
    api.on('data', (chunk) => {
      if (isHeld) return
      const text = chunk.toString('latin1').toLowerCase()
      if (trap !== undefined && text.includes(`insert into "${trap.table}"`)) sawInsert = true
      if (trap === undefined || !sawInsert || !/\bcommit\b/.test(text)) {
        postgres.write(chunk)
        return
      }
      isHeld = true
      const { moment } = trap
      trap = undefined
      if (moment === 'before') {
        held.emit('held')
        return
      }
      // Postgres answers a commit only once it is durable; that answer is what the api must not see.
      postgres.once('data', () => held.emit('held'))
      postgres.write(chunk)
    })
    postgres.on('data', (chunk) => {
      if (!isHeld) api.write(chunk)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    holdCommit: async (moment, table) => {
      trap = { moment, table }
      await once(held, 'held')
    },
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}
