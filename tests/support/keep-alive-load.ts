import { Agent, get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/** Between two requests of one client, so that the machine also has time for the processes that start. */
const PAUSE_MS = 10

export interface Load {
  readonly answered: () => number
  readonly errors: readonly string[]
  /** How often a read was repeated because its connection ended before any byte of the response. */
  readonly repeated: () => number
  /** Resolves once at least so many requests were answered. */
  finish(atLeast: number): Promise<void>
}

interface LoadSettings {
  readonly port: number
  readonly bearer: string
  readonly clients: number
  /** Whether clients repeat a read whose connection closed without a response, as RFC 9110 (9.2.2) allows. */
  readonly repeatsReads: boolean
}

/** Clients that send one read after another over keep-alive connections. */
export function startKeepAliveLoad({ port, bearer, clients, repeatsReads }: LoadSettings): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const errors: string[] = []
  let answered = 0
  let repeated = 0
  let goal = Number.POSITIVE_INFINITY

  const sendRead = () =>
    new Promise<number>((resolve, reject) => {
      const address = `198.18.${Math.trunc(Math.random() * 250)}.${Math.trunc(Math.random() * 250)}`
      const headers = { authorization: `Bearer ${bearer}`, 'x-forwarded-for': address }
      const request = get({ host: '127.0.0.1', port, path: '/api/agents/me', agent, headers }, (response) => {
        response.on('error', reject)
        response.on('end', () => resolve(response.statusCode ?? 0))
        response.resume()
      })
      request.on('error', reject)
    })

  const client = async () => {
    while (answered < goal) {
      try {
        const status = await sendRead()
        if (status !== 200) errors.push(`status ${status}`)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (repeatsReads && code === 'ECONNRESET') {
          repeated++
          continue
        }
        errors.push(String(error))
      }
      answered++
      await wait(PAUSE_MS)
    }
  }
  const running = Array.from({ length: clients }, client)
  return {
    answered: () => answered,
    errors,
    repeated: () => repeated,
    finish: async (atLeast) => {
      goal = atLeast
      await Promise.all(running)
      agent.destroy()
    },
  }
}
