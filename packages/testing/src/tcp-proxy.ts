import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface TcpFaults {
  /** Added to every chunk on its way, in both directions, without changing their order. */
  readonly latencyMs: number
  /** Holds everything, data and endings alike, and closes nothing; what was held goes on when it lifts. */
  readonly blackhole: boolean
  /** New connections are reset as soon as they are accepted. */
  readonly reject: boolean
}

export interface TestTcpProxy {
  readonly port: number
  /** `127.0.0.1:<port>`, to be put into a connection string. */
  readonly address: string
  readonly faults: TcpFaults
  set(faults: Partial<TcpFaults>): void
  /** Resets every connection that is open now; new ones are accepted. */
  cut(): void
  /** Resets the connection on which a client next says this, before anybody hears it; nothing, and none is. */
  cutAt(said: RegExp | undefined): void
  stop(): Promise<void>
}

/** Above this the sender is no longer read, so that it feels a full pipe as it would on a real network. */
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
  // 'close' follows and tells the other side.
  from.on('error', () => {})
  from.on('close', (failed) => inTurn(() => void (failed ? to.resetAndDestroy() : to.destroySoon())))
}

export const startTcpProxy = async (target: {
  readonly host: string
  readonly port: number
}): Promise<TestTcpProxy> => {
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
    // Before whatever was said is passed on.
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
