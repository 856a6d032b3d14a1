import { Agent, request } from 'node:http'

/** A raw request, which is not normalized as `fetch` would. */
export interface WireRequest {
  readonly method: string
  /** Path and query, already percent-encoded. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

export type Wire = ReturnType<typeof wire>

/** Connections are kept and shared, so that thousands of requests do not use up the ports. */
export function wire(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const send = ({ method, path, headers, body }: WireRequest): Promise<WireResponse> =>
    new Promise((resolve, reject) => {
      const asked = request(url, { agent, method, path, headers: { ...headers } }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })
        })
      })
      asked.on('error', reject)
      asked.end(body)
    })
  return { send, stop: () => agent.destroy() }
}
