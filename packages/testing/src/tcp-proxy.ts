import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface TcpFaults {
  /** Delay of every chunk in both directions. The order does not change. */
  readonly latencyMs: number
  /** Holds back all data and closes. They continue when it is turned off. */
  readonly blackhole: boolean
  /** New connections are reset after they are accepted. */
  readonly reject: boolean
}

export interface TestTcpProxy {
  readonly port: number
  /** `127.0.0.1:<port>`, for a connection string. */
  readonly address: string
  readonly faults: TcpFaults
  set(faults: Partial<TcpFaults>): void
  /** Resets every open connection. New ones are accepted. */
  cut(): void
  /** Resets every open connection. New ones go to this port, as after a failover. */
  moveTo(port: number): void
  /** Resets the next connection on which a client sends this text, before it is forwarded. Undefined turns it off. */
  cutAt(said: RegExp | undefined): void
  stop(): Promise<void>
}

/** Above this the proxy stops reading, so that the sender gets backpressure. */
const MOST_HELD_BYTES = 1024 * 1024

class Weather extends EventEmitter<{ change: [] }> {
  faults: TcpFaults = { latencyMs: 0, blackhole: false, reject: false }

  set(faults: Partial<TcpFaults>): void {
    this.faults = { ...this.faults, ...faults }
    this.emit('change')
  }

  async passage(dueAt: number): Promise<void> {
    const left = dueAt - performance.now()
    if (left > 0) await wait(left, undefined, { ref: false })
    while (this.faults.blackhole) await once(this, 'change')
  }
}

const forward = (from: Socket, to: Socket, weather: Weather): void => {
  let line = Promise.resolve()
  let held = 0
  const inTurn = (step: () => void | Promise<void>): void => {
    const dueAt = performance.now() + weather.faults.latencyMs
    line = line.then(() => weather.passage(dueAt)).then(step)
  }
  from.on('data', (chunk: Buffer) => {
    held += chunk.length
    if (held > MOST_HELD_BYTES) from.pause()
    inTurn(async () => {
      if (!to.destroyed) await new Promise((written) => to.write(chunk, written))
      held -= chunk.length
      from.resume()
    })
  })
  from.on('end', () => inTurn(() => void to.end()))
  // 'close' follows and closes the other side.
  from.on('error', () => {})
  from.on('close', (failed) => inTurn(() => void (failed ? to.resetAndDestroy() : to.destroySoon())))
}

export const startTcpProxy = async (first: {
  readonly host: string
  readonly port: number
}): Promise<TestTcpProxy> => {
  let target = first
  const weather = new Weather()
  // Every held chunk waits on the same event.
  weather.setMaxListeners(0)
  const open = new Set<Socket>()
  let trap: RegExp | undefined
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (weather.faults.reject) {
      client.resetAndDestroy()
      return
    }
    const upstream = connect({ ...target, allowHalfOpen: true, noDelay: true })
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    }
    // Before the data is forwarded.
    client.on('data', (chunk) => {
      if (trap?.test(chunk.toString('latin1')) !== true) return
      trap = undefined
      client.resetAndDestroy()
      upstream.resetAndDestroy()
    })
    forward(client, upstream, weather)
    forward(upstream, client, weather)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy()
  }
  return {
    port,
    address: `127.0.0.1:${port}`,
    get faults() {
      return weather.faults
    },
    set: (faults) => weather.set(faults),
    cut,
    moveTo: (to) => {
      target = { ...target, port: to }
      cut()
    },
    cutAt: (said) => {
      trap = said
    },
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
