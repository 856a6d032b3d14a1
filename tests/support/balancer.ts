import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { until } from './until.ts'

const CHECK_EVERY_MS = 50

export interface Balancer {
  readonly port: number
  /** Adds a process. Resolves when its first readiness check passes. */
  add(url: string): Promise<void>
  remove(url: string): void
  stop(): Promise<void>
}

/** A load balancer: new connections go to processes whose /readyz returns 200, open connections stay. */
export async function startBalancer(): Promise<Balancer> {
  const ready = new Map<string, boolean>()
  const open = new Set<Socket>()
  let next = 0

  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const choices = [...ready].filter(([, isReady]) => isReady)
    const [url] = choices[next++ % choices.length] ?? []
    if (url === undefined) {
      client.destroy()
      return
    }
    const backend = connect({
      host: '127.0.0.1',
      port: Number(new URL(url).port),
      noDelay: true,
      allowHalfOpen: true,
    })
    for (const socket of [client, backend]) {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    }
    client.on('error', () => backend.destroy())
    backend.on('error', () => client.resetAndDestroy())
    client.pipe(backend)
    backend.pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const check = async (url: string) => {
    const status = await fetch(`${url}/readyz`).then(
      async (response) => {
        await response.arrayBuffer()
        return response.status
      },
      () => 0,
    )
    if (ready.has(url)) ready.set(url, status === 200)
  }
  const timer = setInterval(() => {
    for (const url of ready.keys()) void check(url)
  }, CHECK_EVERY_MS)

  return {
    port: (server.address() as AddressInfo).port,
    add: async (url) => {
      ready.set(url, false)
      await until(`${url} is ready`, () => ready.get(url) === true)
    },
    remove: (url) => void ready.delete(url),
    stop: async () => {
      clearInterval(timer)
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}
