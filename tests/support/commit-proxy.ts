import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

type Moment = 'before' | 'after'

/** A proxy between a process and Postgres that can cut a connection at COMMIT. */
export interface CommitProxy {
  readonly port: number
  /**
   * Blocks the connection at the next COMMIT after an insert into `table`. `before`: Postgres does not receive the COMMIT;
   * `after`: Postgres commits, but the process does not receive the response.
   */
  holdCommit(moment: Moment, table: string): Promise<void>
  stop(): Promise<void>
}

export async function startCommitProxy(target: { host: string; port: number }): Promise<CommitProxy> {
  const held = new EventEmitter<{ held: [] }>()
  const open = new Set<Socket>()
  let trap: { moment: Moment; table: string } | undefined

  const server = createServer({ noDelay: true }, (client) => {
    const postgres = connect({ ...target, noDelay: true })
    let sawInsert = false
    let isHeld = false
    for (const socket of [client, postgres]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        postgres.destroy()
      })
    }
    client.on('data', (chunk) => {
      if (isHeld) return
      const text = chunk.toString('latin1').toLowerCase()
      if (trap !== undefined && new RegExp(`insert into "?${trap.table}\\b`).test(text)) sawInsert = true
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
      // Postgres responds to COMMIT only once it is durable. The process must not receive this response.
      postgres.once('data', () => held.emit('held'))
      postgres.write(chunk)
    })
    postgres.on('data', (chunk) => {
      if (!isHeld) client.write(chunk)
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
